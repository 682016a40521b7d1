import { describe, expect, it, test } from 'vitest';
import type { Campaign } from '../../../src/outbound/campaign.ts';
import { paceSpan, ProgressReader } from '../../../src/outbound/progress.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const T = Date.parse('2026-03-02T10:00:00Z');

describe('paceSpan', () => {
  const base = { startedAtMs: T, changedAtMs: T, endedAtMs: undefined };
  test.each([
    { note: 'a run of a minute in seconds', state: 'running', nowMs: T + MINUTE, fromMs: T, everyS: 1 },
    { note: 'the last hour of a long run', state: 'running', nowMs: T + 26 * HOUR + 500, fromMs: T + 25 * HOUR, everyS: 30 },
    { note: 'until a pause', state: 'paused', changedAtMs: T + 2 * HOUR, nowMs: T + 9 * HOUR, fromMs: T + HOUR, everyS: 30 },
    { note: 'all of one that ended', state: 'finished', endedAtMs: T + 30 * HOUR, nowMs: T + 99 * HOUR, fromMs: T, everyS: 900 },
    { note: 'months, in days', state: 'stopped', endedAtMs: T + 200 * 24 * HOUR, nowMs: T, fromMs: undefined, everyS: 172_800 },
  ] as const)('shows $note', ({ fromMs, everyS, nowMs, ...campaign }) => {
    const span = paceSpan({ ...base, ...campaign }, nowMs);
    expect(span.everyMs / 1000).toBe(everyS);
    if (fromMs !== undefined) expect(span.fromMs).toBe(fromMs);
    expect((span.toMs - span.fromMs) / span.everyMs).toBeLessThanOrEqual(122);
    expect(span.fromMs % span.everyMs).toBe(0);
  });

  it('is empty before the start', () => {
    const span = paceSpan({ ...base, state: 'draft', startedAtMs: undefined }, T);
    expect(span.toMs).toBe(span.fromMs);
  });
});

describe('ProgressReader', () => {
  const campaign = {
    tenantId: 't',
    id: 'cmp_1',
    state: 'running',
    startedAtMs: T,
    changedAtMs: T,
    endedAtMs: undefined,
  } as Campaign;
  const reader = (takesMs = 0) => {
    const clock = new ManualClock(0, T + 3_000);
    const counted: string[] = [];
    const counts = { contacts: 9, states: { pending: 9, leased: 0, waiting: 0, done: 0 }, dispositions: {} };
    const parts = {
      campaigns: {
        counts: async ({ campaignId }: { campaignId: string }) => {
          counted.push(campaignId);
          clock.advance(takesMs);
          return counts;
        },
        countsOf: async () => new Map(),
        reach: async () => ({ called: 3, answered: 2, person: 1, refusals: { suppressed: 1 }, putOff: {} }),
      },
      contacts: { open: async () => ({ left: true, nextDueAtMs: T + 5_000 }) },
      attempts: { placed: async () => [{ campaignId: 'cmp_1', atMs: T + 1_000, placed: 3, answered: 2 }] },
      clock,
    };
    return { progress: new ProgressReader(parts), clock, counted };
  };

  it('puts calls where they belong in time', async () => {
    const { pace, nextDueAtMs } = await reader().progress.of(campaign);
    expect(pace).toEqual({ fromMs: T, everyMs: 1_000, placed: [0, 3, 0, 0], answered: [0, 2, 0, 0] });
    expect(nextDueAtMs).toBe(T + 5_000);
  });

  it('counts once for all who look within a second, and at once when the state changed', async () => {
    const { progress, clock, counted } = reader();
    await Promise.all([progress.of(campaign), progress.of(campaign)]);
    clock.advance(999);
    await progress.of(campaign);
    expect(counted).toHaveLength(1);
    await progress.of({ ...campaign, changedAtMs: T + 1 });
    expect(counted).toHaveLength(2);
    clock.advance(1_000);
    await progress.of({ ...campaign, changedAtMs: T + 1 });
    expect(counted).toHaveLength(3);
  });

  it('takes no more than a tenth of the time where counting is slow', async () => {
    const { progress, clock, counted } = reader(700);
    await progress.of(campaign);
    clock.advance(6_900);
    await progress.of(campaign);
    expect(counted).toHaveLength(1);
    clock.advance(200);
    await progress.of(campaign);
    expect(counted).toHaveLength(2);
  });
});
