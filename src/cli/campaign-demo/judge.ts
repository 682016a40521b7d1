import { localMs, localText } from '../../outbound/gate/local-time.ts';
import type { CampaignReport } from '../../outbound/report.ts';
import type { CampaignContact } from '../../records/campaigns.ts';
import type { Attempt, Disposition } from '../../records/dialling.ts';
import type { Person } from './people.ts';
import { type CarrierOrder, mondayAtFive } from './simulated-carrier.ts';

/** Hours of the campaign on everybody's clock, Monday to Friday. */
export const HOURS = { from: 10, to: 18 } as const;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** What there is after the demo, from three sides: the store, the report, and the carrier. */
export interface DemoFacts {
  readonly people: readonly Person[];
  readonly contacts: readonly CampaignContact[];
  readonly attempts: readonly Attempt[];
  readonly report: CampaignReport;
  readonly orders: readonly CarrierOrder[];
  /** Numbers on the tenant's own do-not-call list. */
  readonly listed: ReadonlySet<string>;
  /** What the gate said when everybody who opted out was to be called once more: by number. */
  readonly askedAgain: ReadonlyMap<string, string>;
  /** Faults of the log of decisions. */
  readonly logFaults: number;
}

/** What came of one person. */
export interface PersonResult {
  readonly person: Person;
  readonly outcome: Disposition | undefined;
  readonly refusal: string | undefined;
  readonly orders: readonly CarrierOrder[];
}

export interface Check {
  readonly ok: boolean;
  readonly text: string;
}

export interface Judgement {
  /** All checks are. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  readonly contacts: number;
  /** Calls that the carrier was asked for. */
  readonly attempts: number;
  /** Of contacts, by name. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  /** Orders for somebody whose phone was in use by another order, or for the same call once more. */
  readonly doubleDials: number;
  readonly outsideWindow: number;
  /** People who wanted no more calls, are on the list, and got no call afterwards. */
  readonly optOuts: number;
  readonly optOutsKept: number;
  readonly callBacks: number;
  /** Call-backs within half an hour of the time that was promised. */
  readonly callBacksKept: number;
  readonly problems: readonly string[];
  readonly people: readonly PersonResult[];
}

/** Whether it all adds up: what was to happen, what the store says, what the report says, and what the carrier saw. */
export function judge(facts: DemoFacts): Judgement {
  const { people, contacts, attempts, report, orders } = facts;
  const problems: string[] = [];
  const checks: Check[] = [];
  const check = (text: string, found: readonly string[]): void => {
    checks.push({ ok: found.length === 0, text });
    problems.push(...found);
  };
  const byNumber = new Map(contacts.map((contact) => [contact.number, contact]));
  const results = people.map((person): PersonResult => {
    const contact = byNumber.get(person.number);
    const outcome = contact?.state === 'done' ? contact.disposition : undefined;
    const refusal = outcome === 'refused' ? contact?.cause : undefined;
    return { person, outcome, refusal, orders: orders.filter((order) => order.person === person) };
  });
  const outcomes = countBy(results, ({ outcome = 'not done' }) => outcome);
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  const refusals = countBy(refused, ({ refusal = 'without a name' }) => refusal);
  const optedOut = results.filter(
    ({ person }) => person.expected.outcome === 'opt-out' || person.expected.outcome === 'wrong-number',
  );
  const kept = optedOut.filter((result) => isKept(result, facts));
  const callBacks = results.filter(({ person }) => person.reactions.includes('calls-back'));
  const callBacksKept = callBacks.filter(({ person, orders: [first, second] }) => {
    const promisedMs = first === undefined ? 0 : mondayAtFive(person.zone, first.atMs);
    return second !== undefined && Math.abs(second.atMs - promisedMs) <= 30 * MINUTE_MS;
  });
  const doubleDials = doubled(orders);
  const outside = orders.filter(({ person, atMs }) => !isInside(person.zone, atMs));
  const placed = attempts.filter(({ disposition }) => disposition !== 'refused');
  const sums = [placed.length, report.attempts.attempts, orders.length];
  const rows = report.rows.reduce((sum, { calls }) => sum + calls, 0);
  const done = Object.values(report.contacts.outcomes).reduce((sum, count) => sum + count, 0);
  const unless = (isSo: boolean, problem: string): string[] => (isSo ? [] : [problem]);

  check(
    `each of ${people.length} people has one final outcome, or a refusal with its name, and it is the one that their script leads to`,
    [
      ...unless(contacts.length === people.length, `${contacts.length} contacts were made of ${people.length} people`),
      ...results.flatMap((result) => unless(isExpected(result), unexpected(result))),
    ],
  );
  check(`${orders.length} calls: the store, the report and the carrier count the same`, [
    ...unless(
      new Set(sums).size === 1,
      `the store has ${sums[0]} calls, the report ${sums[1]}, and the carrier got ${sums[2]} orders`,
    ),
    ...unless(rows === attempts.length, `the rows of the report have ${rows} calls, the store ${attempts.length}`),
    ...unless(done === people.length, `the report has ${done} contacts that are done, of ${people.length}`),
  ]);
  check(
    'no phone was dialled while it was in use, and no call was ordered twice',
    unless(doubleDials === 0, `${doubleDials} order(s) were for a phone in use, or for the same call once more`),
  );
  check(
    `every call began between ${HOURS.from}:00 and ${HOURS.to}:00, Monday to Friday, on the clock of who was called`,
    outside.map(({ person, atMs }) => `${person.name} was called on ${localText(person.zone, atMs)}, ${person.zone}`),
  );
  check(
    `${optedOut.length} people wanted no more calls: all are on the list, and were refused when they were to be called again`,
    unless(
      kept.length === optedOut.length,
      `${optedOut.length - kept.length} of them were not kept on the list, or were called again`,
    ),
  );
  check(
    `${callBacks.length} people asked to be called on Monday at five: all were called then`,
    unless(callBacksKept.length === callBacks.length, `${callBacks.length - callBacksKept.length} call-back(s) were not on time`),
  );
  check(
    'the log of decisions has every entry as it was written',
    unless(facts.logFaults === 0, `${facts.logFaults} entries of the log of decisions are missing or changed`),
  );

  return {
    ok: checks.every(({ ok }) => ok),
    checks,
    contacts: contacts.length,
    attempts: orders.length,
    outcomes,
    refusals,
    doubleDials,
    outsideWindow: outside.length,
    optOuts: optedOut.length,
    optOutsKept: kept.length,
    callBacks: callBacks.length,
    callBacksKept: callBacksKept.length,
    problems,
    people: results,
  };
}

function isExpected({ person: { expected }, outcome, refusal, orders }: PersonResult): boolean {
  return outcome === expected.outcome && refusal === expected.refusal && orders.length === expected.orders;
}

function unexpected({ person, outcome, refusal, orders }: PersonResult): string {
  const text = (name: string, why: string | undefined, calls: number): string =>
    `${name}${why === undefined ? '' : ` (${why})`} after ${calls} call(s)`;
  const { expected } = person;
  const wanted = text(expected.outcome, expected.refusal, expected.orders);
  return `${person.name} (${person.reactions.join(', then ')}): ${text(outcome ?? 'not done', refusal, orders.length)} where ${wanted} was expected`;
}

/** On the list, not called since, and refused when asked once more. */
function isKept({ person, orders }: PersonResult, { listed, askedAgain }: DemoFacts): boolean {
  const index = orders.findIndex(({ reaction }) => ['says-stop', 'presses-stop', 'wrong-number'].includes(reaction));
  return listed.has(person.number) && index === orders.length - 1 && askedAgain.get(person.number) === 'suppressed';
}

function doubled(orders: readonly CarrierOrder[]): number {
  return orders.filter((order, index) =>
    orders
      .slice(0, index)
      .some(
        (before) =>
          before.callId === order.callId || (before.person === order.person && (before.endedAtMs ?? Infinity) > order.atMs),
      ),
  ).length;
}

function isInside(zone: string, atMs: number): boolean {
  const local = new Date(localMs(zone, atMs));
  const hour = (local.getTime() % (24 * HOUR_MS)) / HOUR_MS;
  return local.getUTCDay() >= 1 && local.getUTCDay() <= 5 && hour >= HOURS.from && hour < HOURS.to;
}

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of items.map(nameOf).sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
