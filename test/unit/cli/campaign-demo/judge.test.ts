import { describe, expect, it, test } from 'vitest';
import { campaignSettings } from '../../../../src/outbound/campaign.ts';
import { campaignReport } from '../../../../src/outbound/report.ts';
import { type DemoFacts, judge } from '../../../../src/cli/campaign-demo/judge.ts';
import { BAD_ROWS, contactsFile, DUPLICATE_ROWS, PEOPLE, type Person } from '../../../../src/cli/campaign-demo/people.ts';
import { type CarrierOrder, mondayAtFive } from '../../../../src/cli/campaign-demo/simulated-carrier.ts';
import type { CampaignContact } from '../../../../src/records/campaigns.ts';
import { attemptRecordOf } from '../../../support/attempt-records.ts';

/** A Friday, 11:00 in New York. */
const T = Date.parse('2026-03-06T16:00:00Z');
const person = (name: string, more: Partial<Person>): Person => ({
  name,
  number: `+1212555010${name.length}`,
  zone: 'America/New_York',
  reactions: ['talks'],
  consent: 'given',
  isSuppressed: false,
  expected: { outcome: 'completed', orders: 1 },
  ...more,
});
const asha = person('A', {});
const ravi = person('Ra', { reactions: ['says-stop'], expected: { outcome: 'opt-out', orders: 1 } });

const order = (who: Person, callId: string, more: Partial<CarrierOrder> = {}): CarrierOrder => ({
  callId,
  person: who,
  atMs: T,
  reaction: who.reactions[0] ?? 'talks',
  carrierCallId: `CA${callId}`,
  progress: { state: 'ended', outcome: 'completed' },
  endedAtMs: T + 50_000,
  ...more,
});

/** A demo of two people that went well. */
function facts(more: Partial<DemoFacts> = {}): DemoFacts {
  const people = [asha, ravi];
  const contacts = people.map(
    ({ number, expected }) => ({ number, state: 'done', disposition: expected.outcome }) as CampaignContact,
  );
  const attempts = people.map(({ number, expected }, index) => ({
    ...attemptRecordOf({ id: String(index), to: number, state: 'ended' }),
    disposition: expected.outcome,
  }));
  const tallies = people.map(({ expected }) => ({
    quarterMs: T,
    botName: 'reminder',
    from: '+19175550199',
    disposition: expected.outcome,
    refusal: undefined,
    attempts: 1,
    answered: 1,
    talkSeconds: 40,
  }));
  const settings = campaignSettings.parse({ name: 'x', bot: 'reminder', from: '+19175550199', profile: 'us' });
  const counts = {
    contacts: 2,
    states: { pending: 0, leased: 0, waiting: 0, done: 2 },
    dispositions: { completed: 1, 'opt-out': 1 },
  };
  return {
    people,
    contacts,
    attempts,
    report: campaignReport({ id: 'c', name: 'x', state: 'finished', settings }, counts, tallies),
    orders: [order(asha, '0'), order(ravi, '1')],
    listed: new Set([ravi.number]),
    askedAgain: new Map([[ravi.number, 'suppressed']]),
    logFaults: 0,
    ...more,
  };
}

describe('judge', () => {
  it('finds nothing wrong where nothing is', () => {
    expect(judge(facts())).toMatchObject({
      ok: true,
      problems: [],
      contacts: 2,
      attempts: 2,
      optOutsKept: 1,
      doubleDials: 0,
      outsideWindow: 0,
    });
  });

  test.each<{ note: string; more: Partial<DemoFacts>; says: object }>([
    {
      note: 'an order more than the store has',
      more: { orders: [order(asha, '0'), order(ravi, '1'), order(asha, '2', { atMs: T + 60_000 })] },
      says: { attempts: 3 },
    },
    {
      note: 'a phone that was dialled while in use',
      more: { orders: [order(asha, '0'), order(asha, '2'), order(ravi, '1')] },
      says: { doubleDials: 1 },
    },
    {
      note: 'a call on a Saturday',
      more: { orders: [order(asha, '0', { atMs: T + 86_400_000 }), order(ravi, '1')] },
      says: { outsideWindow: 1 },
    },
    {
      note: 'a call at six in the evening',
      more: { orders: [order(asha, '0', { atMs: T + 7 * 3_600_000 }), order(ravi, '1')] },
      says: { outsideWindow: 1 },
    },
    { note: 'an opt-out that is not on the list', more: { listed: new Set() }, says: { optOutsKept: 0 } },
    { note: 'an opt-out whom the gate would call again', more: { askedAgain: new Map() }, says: { optOutsKept: 0 } },
    {
      note: 'a contact that is not done',
      more: { contacts: facts().contacts.slice(1) },
      says: { contacts: 1, outcomes: { 'not done': 1 } },
    },
    { note: 'a log of decisions with a fault', more: { logFaults: 1 }, says: {} },
  ])('finds $note', ({ more, says }) => {
    const judged = judge(facts(more));
    expect(judged).toMatchObject({ ok: false, ...says });
    expect(judged.problems.length).toBeGreaterThan(0);
  });
});

it('has a hundred people of different numbers, whose file has bad rows and duplicates', () => {
  expect(new Set(PEOPLE.map(({ number }) => number)).size).toBe(100);
  expect(new Set(PEOPLE.map(({ zone }) => zone)).size).toBe(3);
  expect(contactsFile(PEOPLE).trim().split('\n')).toHaveLength(1 + 100 + BAD_ROWS + DUPLICATE_ROWS);
});

test.each([
  { zone: 'America/New_York', is: '2026-03-09T21:00:00.000Z' },
  { zone: 'America/Los_Angeles', is: '2026-03-10T00:00:00.000Z' },
])('Monday at five in $zone is there at five, behind the change of clocks', ({ zone, is }) => {
  expect(new Date(mondayAtFive(zone, T)).toISOString()).toBe(is);
});
