import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localText } from '../../../src/outbound/gate/local-time.ts';
import { thorough } from '../../support/thorough.ts';
import { CampaignBench, type Script } from './campaign-bench.ts';

/** Tuesday 12:00 in London. */
const NOON = Date.UTC(2026, 2, 3, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const people = (count: number, zone?: string) =>
  Array.from({ length: count }, (_, index) => ({
    number: `+4420794${String(61_000 + index).padStart(5, '0')}`,
    zone,
    variables: { name: `Asha ${index}` },
  }));
const quick = { afterMinutes: [1], most: 2 };
const quickRetries = { attempts: { after: { busy: quick, failed: { ...quick, most: 3 }, 'no-answer': quick } } };

/** No attempt was ordered twice, nobody was called while they were being called, or after they were spoken to. */
function expectOneCallAtATime({ orders }: CampaignBench): void {
  expect(new Set(orders.map(({ callId }) => callId)).size).toBe(orders.length);
  for (const to of new Set(orders.map((order) => order.to))) {
    const calls = orders.filter((order) => order.to === to).sort((one, other) => one.atMs - other.atMs);
    for (const [index, call] of calls.slice(1).entries()) {
      const before = calls[index];
      expect(before?.endedAtMs ?? Infinity).toBeLessThanOrEqual(call.atMs);
      expect(before?.progress).not.toEqual({ state: 'ended', outcome: 'completed' });
    }
  }
}

describe('CampaignRunner', () => {
  it('calls every contact once and finishes', async () => {
    const bench = new CampaignBench(NOON);
    await bench.campaign('c', people(30), { callsPerSecond: 5, concurrency: 20 });
    bench.startProcess();
    await bench.until(() => bench.stateOf('c') === 'finished', HOUR_MS);
    expect(bench.orders).toHaveLength(30);
    expect(await bench.store.campaigns.counts({ tenantId: 'default', campaignId: 'c' })).toMatchObject({
      states: { done: 30 },
      dispositions: { completed: 30 },
    });
    expectOneCallAtATime(bench);
    expect(bench.changes).toBe(1);
  });

  it('keeps to the rate of the campaign, to its calls at once, and to the room there is', async () => {
    const bench = new CampaignBench(NOON);
    await bench.campaign('c', people(60), { callsPerSecond: 2, concurrency: 8 });
    bench.startProcess();
    bench.startProcess();
    await bench.until(() => bench.orders.length === 60, HOUR_MS);
    const starts = bench.orders.map(({ atMs }) => atMs);
    for (const [index, atMs] of starts.entries()) {
      const live = bench.orders.slice(0, index).filter(({ endedAtMs = Infinity }) => endedAtMs > atMs);
      expect(live.length).toBeLessThan(8);
      // Moments are met within a tick.
      const second = starts.filter((each) => each >= atMs && each < atMs + 1000);
      expect(second.length).toBeLessThanOrEqual(3);
    }
    const slow = new CampaignBench(NOON);
    slow.room = 3;
    await slow.campaign('c', people(12), { callsPerSecond: 50, concurrency: 50 });
    slow.startProcess();
    await slow.until(() => slow.stateOf('c') === 'finished', HOUR_MS);
    for (const { atMs } of slow.orders) {
      const live = slow.orders.filter((each) => each.atMs <= atMs && (each.endedAtMs ?? Infinity) > atMs);
      expect(live.length).toBeLessThanOrEqual(3);
    }
  });

  it('shares the rate of an account by weight', async () => {
    const bench = new CampaignBench(NOON);
    bench.accountRate = 8;
    await bench.campaign('heavy', people(400).slice(0, 200), { callsPerSecond: 100, concurrency: 400, weight: 3 });
    await bench.campaign('light', people(400).slice(200), { callsPerSecond: 100, concurrency: 400, weight: 1 });
    bench.room = 500;
    bench.startProcess();
    await bench.until(() => bench.orders.length >= 120, HOUR_MS);
    const heavy = bench.attempts.all.filter(
      ({ campaignId, placedAtMs }) => campaignId === 'heavy' && placedAtMs !== undefined,
    ).length;
    expect(heavy / bench.orders.length).toBeGreaterThan(0.7);
    expect(heavy / bench.orders.length).toBeLessThan(0.8);
  });

  it('calls again after each outcome as its policy says', async () => {
    const bench = new CampaignBench(NOON);
    const [one, other, third] = people(3).map(({ number }) => number);
    bench.scripts.set(one ?? '', ['busy', 'busy', 'completed']);
    bench.scripts.set(other ?? '', ['busy']);
    bench.scripts.set(third ?? '', ['rejected']);
    await bench.campaign('c', people(3), quickRetries);
    bench.startProcess();
    await bench.until(() => bench.stateOf('c') === 'finished', HOUR_MS);
    const counts = await bench.store.campaigns.counts({ tenantId: 'default', campaignId: 'c' });
    expect(counts.dispositions).toEqual({ completed: 1, busy: 1, rejected: 1 });
    expect(bench.orders.map(({ to }) => to).sort()).toEqual([one, one, one, other, other, other, third]);
    expectOneCallAtATime(bench);
  });

  it('dials nothing new while paused, and goes on afterwards', async () => {
    const bench = new CampaignBench(NOON);
    const ref = { tenantId: 'default', campaignId: 'c' };
    await bench.campaign('c', people(40), { callsPerSecond: 4, concurrency: 40 });
    bench.startProcess();
    await bench.until(() => bench.orders.length >= 10, HOUR_MS);
    await bench.store.campaigns.setState(ref, ['running'], 'paused', { atMs: bench.clock.wallMs() });
    const before = bench.orders.length;
    await bench.step(0);
    await bench.until(() => bench.orders.every(({ endedAtMs }) => endedAtMs !== undefined), MINUTE_MS);
    for (let step = 0; step < 40; step += 1) await bench.step(250);
    expect(bench.orders.length).toBeLessThanOrEqual(before + 1);
    await bench.store.campaigns.setState(ref, ['paused'], 'running', { atMs: bench.clock.wallMs() });
    await bench.until(() => bench.stateOf('c') === 'finished', HOUR_MS);
    expect(bench.orders).toHaveLength(40);
    expectOneCallAtATime(bench);
  });

  it('cancels who is left when a campaign is stopped, or its last day is over', async () => {
    const bench = new CampaignBench(NOON);
    await bench.campaign('stopped', people(20), { callsPerSecond: 2 });
    await bench.campaign('over', people(40).slice(20), { callsPerSecond: 2, endsAt: new Date(NOON + 5_000).toISOString() });
    bench.startProcess();
    await bench.until(() => bench.orders.length >= 5, HOUR_MS);
    const ref = { tenantId: 'default', campaignId: 'stopped' };
    await bench.store.campaigns.setState(ref, ['running'], 'stopped', { atMs: bench.clock.wallMs() });
    const isDone = async (campaignId: string) => !(await bench.store.contacts.open({ tenantId: 'default', campaignId })).left;
    await bench.until(() => bench.stateOf('over') === 'finished', HOUR_MS);
    await bench.until(() => [...bench.store.rows.values()].every(({ state }) => state === 'done'), HOUR_MS);
    expect(await isDone('stopped')).toBe(true);
    const { dispositions } = await bench.store.campaigns.counts(ref);
    expect((dispositions.completed ?? 0) + (dispositions.cancelled ?? 0)).toBe(20);
    expect(dispositions.cancelled).toBeGreaterThan(5);
  });

  it('pauses a campaign whose calls fail, and says why', async () => {
    const bench = new CampaignBench(NOON);
    for (const { number } of people(200)) bench.scripts.set(number, ['failed']);
    await bench.campaign('c', people(200), { callsPerSecond: 5, concurrency: 50 });
    bench.startProcess();
    await bench.until(() => bench.stateOf('c') === 'paused', HOUR_MS);
    expect(bench.store.stored.get('c')?.reason).toMatch(/^\d+ of \d+ calls failed within 10 minutes/);
    expect(bench.orders.length).toBeLessThan(150);
  });

  it('pauses a campaign that no call can be asked for', async () => {
    const bench = new CampaignBench(NOON);
    await bench.campaign('c', people(5), { profile: 'unknown-profile' });
    bench.startProcess();
    await bench.until(() => bench.stateOf('c') === 'paused', MINUTE_MS);
    expect(bench.store.stored.get('c')?.reason).toMatch(/no dialling profile/);
    expect([...bench.store.rows.values()].every(({ state }) => state === 'pending')).toBe(true);
  });

  it('refuses for ever what the gate refuses for ever', async () => {
    const bench = new CampaignBench(NOON);
    const [first] = people(1);
    bench.attempts.suppressed.set(first?.number ?? '', [{ list: 'own', addedAtMs: 0 }]);
    await bench.campaign('c', people(3));
    bench.startProcess();
    await bench.until(() => bench.stateOf('c') === 'finished', HOUR_MS);
    expect(bench.store.rows.get('contact_1')).toMatchObject({ state: 'done', disposition: 'refused', cause: 'suppressed' });
    expect(bench.orders).toHaveLength(2);
  });

  it.each([
    // Clocks go forward on 29 March 2026 in London, and on 8 March in New York; campaign-clock-changes.test.ts has the others.
    { zone: 'Europe/London', from: Date.UTC(2026, 2, 28, 20, 50) },
    { zone: 'America/New_York', from: Date.UTC(2026, 2, 8, 1, 50) },
  ])('opens and closes its hours by itself over a change of clocks in $zone', async ({ zone, from }) => {
    const bench = new CampaignBench(from);
    // Ten minutes before the end of the day's hours, three times as many as can be called.
    await bench.campaign('c', people(60, zone), { callsPerSecond: 0.05, concurrency: 5, zoneSource: 'given' });
    bench.startProcess();
    await bench.until(() => bench.stateOf('c') === 'finished', 20 * HOUR_MS);
    const times = bench.orders.map(({ atMs }) => localText(zone, atMs).slice(-5));
    expect(times).toHaveLength(60);
    expect(times.every((time) => time >= '08:00' && time < '21:00')).toBe(true);
    expect(times.filter((time) => time >= '20:00').length).toBeGreaterThan(20);
    // The first of the next day is called as soon as the hours open.
    expect(times.find((time) => time < '20:00')).toBe('08:00');
    // Meanwhile nobody was asked for again and again.
    expect(bench.attempts.all.length).toBeLessThan(75);
  });

  it('calls every contact exactly once, wherever processes are killed', async () => {
    const script: fc.Arbitrary<Script> = fc.array(fc.constantFrom('completed', 'busy', 'failed', 'no-answer', 'lost'), {
      minLength: 1,
      maxLength: 3,
    });
    const kill = fc.record({ inSteps: fc.integer({ min: 1, max: 150 }), unheard: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(script, { minLength: 8, maxLength: 8 }),
        fc.array(kill, { maxLength: 8 }),
        async (scripts, kills) => {
          const bench = new CampaignBench(NOON);
          const contacts = people(8);
          for (const [index, { number }] of contacts.entries()) bench.scripts.set(number, scripts[index] ?? ['completed']);
          await bench.campaign('c', contacts, { callsPerSecond: 3, ...quickRetries, breaker: { failedShare: 1 } });
          bench.kills.push(...kills.map((each) => ({ ...each })));
          const isOver = (): boolean => {
            while (bench.alive.length < 2) bench.startProcess();
            return bench.stateOf('c') === 'finished';
          };
          await bench.until(isOver, 2 * HOUR_MS);
          expectOneCallAtATime(bench);
          expect([...bench.store.rows.values()].map(({ state }) => state)).toEqual(contacts.map(() => 'done'));
          for (const { number } of contacts) expect(bench.orders.some(({ to }) => to === number)).toBe(true);
          // What the carrier got is what the store knows of.
          for (const { callId } of bench.orders) expect(bench.attempts.rows.get(callId)?.attempt.state).toBe('ended');
        },
      ),
      { numRuns: thorough(12, 400) },
    );
  });
});
