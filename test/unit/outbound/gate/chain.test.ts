import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { appendEntry, type ChainEntry, loggedDecision, verifyChain } from '../../../../src/outbound/gate/chain.ts';
import { mayDial } from '../../../../src/outbound/gate/may-dial.ts';
import { FIRST_HASH } from '../../../../src/kernel/hash-chain.ts';
import { allowedFacts, profiles } from './dial-facts.ts';

const facts = allowedFacts('in');
const body = loggedDecision(facts, mayDial(facts, profiles.in), 'ref-1');

function chainOf(length: number, tenantId = 'default'): ChainEntry[] {
  const entries: ChainEntry[] = [];
  for (let index = 0; index < length; index += 1) {
    const head: ChainEntry | undefined = entries.at(-1);
    entries.push(appendEntry(head, tenantId, 1000 + index, { ...body, subject: `ref-${index}` }));
  }
  return entries;
}

/** The entry of this sequence in a log that was not touched. */
function nth(entries: readonly ChainEntry[], sequence: number): ChainEntry {
  const entry = entries.find((each) => each.sequence === sequence);
  if (entry === undefined) throw new Error(`no entry ${sequence}`);
  return entry;
}

describe('the decision log', () => {
  it('holds what was decided, and no number', () => {
    const night = { ...facts, nowMs: facts.nowMs + 12 * 3_600_000 };
    expect(loggedDecision(night, mayDial(night, profiles.in), 'ref-1')).toMatchObject({
      subject: 'ref-1',
      allowed: false,
      refusals: ['outside-window'],
      profile: 'in',
      profileHash: profiles.in.hash,
      purpose: 'promotional',
      local: [{ zone: 'Asia/Calcutta', time: 'wed 2026-03-04 00:00' }],
    });
    expect(JSON.stringify(chainOf(2))).not.toContain('9876543210');
  });

  it('is sound as it was written, read from JSON in whatever order of keys', async () => {
    const entries = chainOf(50);
    expect(nth(entries, 1).previousHash).toBe(FIRST_HASH);
    const turned = entries.map((entry): ChainEntry => {
      const shuffled = Object.fromEntries(Object.entries(entry.body).reverse());
      return { ...(JSON.parse(JSON.stringify(entry)) as ChainEntry), body: shuffled as unknown as ChainEntry['body'] };
    });
    const { sequence, hash } = nth(entries, 50);
    const head = { sequence, hash };
    expect(await verifyChain(turned, 'default', head)).toEqual({ entries: 50, faults: [], faultCount: 0, head });
    expect(await verifyChain([], 'default')).toMatchObject({ entries: 0, faultCount: 0, head: undefined });
  });

  const whole = chainOf(10);
  const rewritten = appendEntry(nth(whole, 4), 'default', 1004, { ...body, allowed: false });
  test.each([
    {
      note: 'a changed entry',
      entries: whole.map((entry) => (entry.sequence === 5 ? { ...entry, body: { ...entry.body, allowed: false } } : entry)),
      faults: [{ fault: 'changed', sequence: 5 }],
    },
    {
      note: 'a changed time',
      entries: whole.map((entry) => (entry.sequence === 5 ? { ...entry, atMs: 1 } : entry)),
      faults: [{ fault: 'changed', sequence: 5 }],
    },
    {
      note: 'an entry that was replaced by a sound one',
      entries: whole.map((entry) => (entry.sequence === 5 ? rewritten : entry)),
      faults: [{ fault: 'replaced', sequence: 6 }],
    },
    {
      note: 'a missing entry',
      entries: whole.filter(({ sequence }) => sequence !== 5),
      faults: [{ fault: 'missing', sequence: 5, toSequence: 5 }],
    },
    {
      note: 'missing first entries',
      entries: whole.filter(({ sequence }) => sequence > 3),
      faults: [{ fault: 'missing', sequence: 1, toSequence: 3 }],
    },
    {
      note: 'entries cut off the end',
      entries: whole.slice(0, 8),
      faults: [{ fault: 'missing', sequence: 9, toSequence: 10 }],
    },
    {
      note: 'reordered entries',
      entries: [...whole.slice(0, 4), nth(whole, 6), nth(whole, 5), ...whole.slice(6)],
      faults: [{ fault: 'reordered', sequence: 5 }],
    },
    {
      note: 'an entry that stands twice',
      entries: [...whole.slice(0, 6), nth(whole, 3), ...whole.slice(6)],
      faults: [{ fault: 'repeated', sequence: 3 }],
    },
    {
      note: "another tenant's entry",
      entries: [...whole, nth(chainOf(1, 'other'), 1)],
      faults: [{ fault: 'foreign', sequence: 1 }],
    },
    {
      note: 'a log that was written anew',
      entries: chainOf(10).map((entry, index, all) =>
        index === 9 ? appendEntry(all[8], 'default', 2000, { ...body, subject: 'x' }) : entry,
      ),
      faults: [{ fault: 'replaced', sequence: 10 }],
    },
  ] as const)('it finds $note, and says which', async ({ entries, faults }) => {
    const { sequence, hash } = nth(whole, 10);
    expect((await verifyChain(entries, 'default', { sequence, hash })).faults).toEqual(faults);
  });

  it('it finds any change of any value of any entry', async () => {
    const entry = fc.integer({ min: 1, max: 10 });
    const key = fc.constantFrom(...(Object.keys(body) as (keyof typeof body)[]));
    await fc.assert(
      fc.asyncProperty(entry, key, fc.string(), async (sequence, name, value) => {
        const changed = whole.map((each) =>
          each.sequence === sequence ? { ...each, body: { ...each.body, [name]: `${value}!` } } : each,
        );
        expect((await verifyChain(changed, 'default')).faults).toEqual([{ fault: 'changed', sequence }]);
      }),
    );
  });
});
