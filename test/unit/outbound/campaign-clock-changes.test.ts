import { describe, expect, it } from 'vitest';
import { thorough } from '../../support/thorough.ts';
import { CampaignBench, type Script } from './campaign-bench.ts';
import { profileOf } from './gate/dial-facts.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAYS_MS = 4 * 24 * HOUR_MS;
const ref = { tenantId: 'default', campaignId: 'c' };

type Hours = readonly { readonly from: string; readonly to: string; readonly days?: readonly string[] }[];

/** The wall clock, from Intl and not from the code under test. */
function wallClock(zone: string): (atMs: number) => { minute: number; weekday: string } {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (atMs) => {
    const of = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    return { minute: Number(of['hour']) * 60 + Number(of['minute']), weekday: (of['weekday'] ?? '').toLowerCase() };
  };
}

function isOpenIn(zone: string, hours: Hours): (atMs: number) => boolean {
  const clock = wallClock(zone);
  const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  return (atMs) => {
    const { minute, weekday } = clock(atMs);
    return hours.some(
      ({ from, to, days }) => minute >= minuteOf(from) && minute < minuteOf(to) && (days === undefined || days.includes(weekday)),
    );
  };
}

/** The minute in which the zone's clock jumps, between two moments. */
function changeIn(zone: string, fromMs: number, toMs: number): number {
  const clock = wallClock(zone);
  for (let atMs = fromMs; atMs < toMs; atMs += MINUTE_MS) {
    if ((clock(atMs).minute + 1) % 1440 !== clock(atMs + MINUTE_MS).minute) return atMs + MINUTE_MS;
  }
  throw new Error(`no change of clocks in ${zone}`);
}

const CHANGES = [
  { note: 'forward at 2 in New York', zone: 'America/New_York', day: '2026-03-08' },
  { note: 'back at 2 in New York', zone: 'America/New_York', day: '2026-11-01' },
  { note: 'forward by half an hour on Lord Howe', zone: 'Australia/Lord_Howe', day: '2026-10-04' },
  { note: 'back by half an hour on Lord Howe', zone: 'Australia/Lord_Howe', day: '2026-04-05' },
  { note: 'forward over a midnight that does not exist in Beirut', zone: 'Asia/Beirut', day: '2026-03-29' },
  { note: 'forward over a midnight that does not exist in Santiago', zone: 'America/Santiago', day: '2026-09-06' },
  { note: 'back over midnight in Santiago, where Saturday ends twice', zone: 'America/Santiago', day: '2026-04-05' },
  { note: 'forward at 1 in London', zone: 'Europe/London', day: '2026-03-29' },
] as const;

/** Hours that begin, end or lie at the change, by what the clock shows there. */
const HOURS: readonly { readonly name: string; readonly hours: Hours }[] = [
  {
    name: 'around midnight',
    hours: [
      { from: '23:30', to: '24:00' },
      { from: '00:00', to: '00:40' },
    ],
  },
  { name: 'from 1:15 to 1:45', hours: [{ from: '01:15', to: '01:45' }] },
  { name: 'from 1:50 to 2:40', hours: [{ from: '01:50', to: '02:40' }] },
  { name: 'the first hours of a Sunday', hours: [{ from: '00:00', to: '03:10', days: ['sun'] }] },
];

function benchAt(startMs: number, zone: string, hours: Hours) {
  const profile = profileOf({ windows: [{ hours, source: 'test' }] });
  const bench = new CampaignBench(startMs, { named: () => profile, names: [profile.name] });
  const contacts = Array.from({ length: 9 }, (_, index) => ({
    number: `+4420794${String(61_000 + index)}`,
    zone,
    variables: {},
  }));
  // A third is called again: planned before the change, due behind it.
  const again: Script = ['busy', 'busy', 'completed'];
  for (const [index, { number }] of contacts.entries()) if (index % 3 === 0) bench.scripts.set(number, again);
  const after = { busy: { afterMinutes: [35], most: 2 } };
  // The numbers are British; their people live where the clocks change.
  const zoneSource = 'given' as const;
  return { bench, contacts, settings: { callsPerSecond: 0.01, concurrency: 5, zoneSource, attempts: { after } } };
}

/** Lets time pass until the campaign is finished: quickly while its hours are closed, which may be for days. */
async function finish(bench: CampaignBench, isOpen: (atMs: number) => boolean): Promise<void> {
  const endMs = bench.clock.wallMs() + 3 * DAYS_MS;
  while (bench.stateOf('c') !== 'finished') {
    const nowMs = bench.clock.wallMs();
    if (nowMs > endMs) throw new Error('the campaign does not finish');
    const isQuiet = bench.orders.every(({ endedAtMs }) => endedAtMs !== undefined);
    if (isQuiet && !isOpen(nowMs) && !isOpen(nowMs + MINUTE_MS)) await bench.step(MINUTE_MS);
    else await bench.until(() => bench.stateOf('c') === 'finished' || bench.clock.wallMs() >= nowMs + MINUTE_MS, HOUR_MS);
  }
}

function expectRightCalls(
  bench: CampaignBench,
  contacts: readonly { number: string }[],
  isOpen: (atMs: number) => boolean,
): void {
  expect(bench.orders.filter(({ atMs }) => !isOpen(atMs)).map(({ atMs }) => new Date(atMs).toISOString())).toEqual([]);
  const callsOf = (number: string): number => bench.orders.filter(({ to }) => to === number).length;
  expect(contacts.map(({ number }) => callsOf(number))).toEqual(contacts.map((_, index) => (index % 3 === 0 ? 3 : 1)));
  expect(new Set(bench.orders.map(({ callId }) => callId)).size).toBe(bench.orders.length);
  expect([...bench.store.rows.values()].every(({ state, disposition }) => state === 'done' && disposition === 'completed')).toBe(
    true,
  );
}

describe.each(CHANGES)('a running campaign while clocks go $note', ({ zone, day }) => {
  const changeMs = changeIn(zone, Date.parse(day) - 14 * HOUR_MS, Date.parse(day) + 14 * HOUR_MS);

  // Each change with other hours; in long tests with all of them.
  const first = CHANGES.findIndex((change) => change.zone === zone && change.day === day) % HOURS.length;
  const chosen = [...HOURS.slice(first), ...HOURS.slice(0, first)].slice(0, thorough(1, HOURS.length));

  it.each(chosen)('dials inside its hours alone, and loses and repeats nobody: $name', async ({ hours }) => {
    const { bench, contacts, settings } = benchAt(changeMs - 50 * MINUTE_MS, zone, hours);
    const isOpen = isOpenIn(zone, hours);
    await bench.campaign('c', contacts, settings);
    bench.startProcess();
    bench.startProcess();
    await finish(bench, isOpen);
    expectRightCalls(bench, contacts, isOpen);
    // The first call is made when the hours open first.
    let opensMs = changeMs - 50 * MINUTE_MS;
    while (!isOpen(opensMs)) opensMs += MINUTE_MS;
    expect((bench.orders[0]?.atMs ?? Infinity) - opensMs).toBeLessThan(MINUTE_MS);
  });

  it('stays paused over the change, and goes on inside its hours', async () => {
    const hours = [{ from: '00:00', to: '24:00', days: ['sun'] }];
    const { bench, contacts, settings } = benchAt(changeMs - 50 * MINUTE_MS, zone, hours);
    await bench.campaign('c', contacts, settings);
    bench.startProcess();
    const isOpen = isOpenIn(zone, hours);
    await bench.until(() => bench.clock.wallMs() > changeMs - 5 * MINUTE_MS, HOUR_MS);
    await bench.store.campaigns.setState(ref, ['running'], 'paused', { atMs: bench.clock.wallMs() });
    const pausedMs = bench.clock.wallMs();
    await bench.until(() => bench.clock.wallMs() > changeMs + 5 * MINUTE_MS, HOUR_MS);
    expect(bench.orders.filter(({ atMs }) => atMs > pausedMs + MINUTE_MS)).toEqual([]);
    await bench.store.campaigns.setState(ref, ['paused'], 'running', { atMs: bench.clock.wallMs() });
    await finish(bench, isOpen);
    expectRightCalls(bench, contacts, isOpen);
  });
});
