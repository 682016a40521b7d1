import { expect, it } from 'vitest';
import type { Analysis, CallSummary } from '../../../../src/records/port.ts';
import { recallCaller, type RememberedCalls } from '../../../../src/records/privacy/recall-caller.ts';

interface Kept {
  readonly day: number;
  readonly agrees?: string;
  readonly summary?: string;
  readonly notes?: readonly string[];
}

/** A store with these calls of one person, newest first. */
function storeOf(kept: readonly Kept[]): { store: RememberedCalls; searched: unknown[] } {
  const searched: unknown[] = [];
  const calls = kept.map(({ day, agrees, notes = [] }, index) => {
    const variables = agrees === undefined ? {} : { remember_me: agrees };
    return {
      id: String(index),
      startedAtMs: Date.UTC(2026, 0, day),
      endedAtMs: Date.UTC(2026, 0, day),
      variables,
      notes,
    } as unknown as CallSummary;
  });
  const list = async (_tenant: string, id: string): Promise<readonly Analysis[]> => {
    const summary = kept[Number(id)]?.summary;
    return summary === undefined ? [] : [{ document: { insights: { summary } } } as Analysis];
  };
  const search = async (...asked: unknown[]) => {
    searched.push(asked);
    return { calls, next: undefined };
  };
  return { store: { calls: { search }, analyses: { list } }, searched };
}

const ASKED = { tenantId: 'acme', botName: 'desk', number: '+15550123456', consent: 'remember_me', calls: 2 };

it.each([
  {
    note: 'the summaries of the latest calls',
    kept: [
      { day: 9, agrees: 'yes', summary: 'Bought a lamp.' },
      { day: 5, agrees: 'yes', notes: ['likes red', 'is in a hurry'] },
      { day: 3, agrees: 'yes', summary: 'Old.' },
    ],
    told: ['2026-01-09: Bought a lamp.', '2026-01-05: likes red; is in a hurry'],
  },
  { note: 'nothing without a consent', kept: [{ day: 9, summary: 'Bought a lamp.' }], told: [] },
  {
    note: 'nothing after a refusal',
    kept: [
      { day: 9, agrees: 'no' },
      { day: 5, agrees: 'yes', summary: 'Bought a lamp.' },
    ],
    told: [],
  },
  {
    note: 'nothing from before a refusal',
    kept: [
      { day: 9, agrees: 'yes', summary: 'Back again.' },
      { day: 7, agrees: 'no' },
      { day: 5, agrees: 'yes', summary: 'Bought a lamp.' },
    ],
    told: ['2026-01-09: Back again.'],
  },
  {
    note: 'no call in which they were not asked',
    kept: [
      { day: 9, summary: 'Silent.' },
      { day: 5, agrees: 'yes', summary: 'Bought a lamp.' },
    ],
    told: ['2026-01-05: Bought a lamp.'],
  },
  { note: 'nothing of an erased call', kept: [{ day: 9, agrees: 'yes' }], told: [] },
])('recalls $note', async ({ kept, told }) => {
  const { store, searched } = storeOf(kept);
  expect(await recallCaller(async () => store)(ASKED)).toEqual(told);
  expect(searched).toEqual([['acme', { number: '+15550123456', botName: 'desk', limit: 20 }]]);
});

it('asks no store about a withheld number', async () => {
  const recall = recallCaller(() => Promise.reject(new Error('asked')));
  expect(await recall({ ...ASKED, number: 'anonymous' })).toEqual([]);
});
