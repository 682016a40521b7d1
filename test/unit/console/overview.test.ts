import { describe, expect, it } from 'vitest';
import { changeOf, linkOf, periodOf, tileOf } from '../../../src/console/pages/overview/overview-model.ts';
import type { FiguresView } from '../../../src/http/api/calls/statistics-views.ts';

const NOTHING: FiguresView = {
  calls: 0,
  answered: 0,
  contained: 0,
  transferred: 0,
  givenUp: 0,
  optedOut: 0,
  cutOffCalls: 0,
  cutOffs: 0,
  notUnderstoodCalls: 0,
  notUnderstood: 0,
  durationS: 0,
  endings: {
    finished: 0,
    transferred: 0,
    'hung-up': 0,
    'no-input': 0,
    'not-understood': 0,
    'opted-out': 0,
    failed: 0,
    'cut-short': 0,
  },
  replies: null,
  costs: [],
};
const replies = (p50Ms: number) => ({ replies: 9, p50Ms, p90Ms: 0, p95Ms: 2_000, p99Ms: 0 });

describe('the overview', () => {
  it('holds today so far against yesterday so far, and seven days against the seven before', () => {
    const now = new Date(2026, 2, 5, 14, 30, 20);
    const today = periodOf('today', now);
    expect([today.from, today.before]).toEqual([new Date(2026, 2, 5), new Date(2026, 2, 4)]);
    expect(today.to.getTime()).toBeGreaterThan(now.getTime());
    const week = periodOf('week', now);
    expect([week.from, week.before, week.chartTo]).toEqual([new Date(2026, 1, 27), new Date(2026, 1, 20), new Date(2026, 2, 6)]);
  });

  it.each([
    { name: 'calls', now: { calls: 30 }, before: { calls: 20 }, change: { by: 50, unit: 'percent', verdict: 'neither' } },
    { name: 'calls', now: { calls: 30 }, before: { calls: 0 }, change: undefined },
    {
      name: 'givenUp',
      now: { answered: 10, givenUp: 1 },
      before: { answered: 4, givenUp: 1 },
      change: { by: -15, unit: 'points', verdict: 'better' },
    },
    {
      name: 'median',
      now: { replies: replies(900) },
      before: { replies: replies(700) },
      change: { by: 200, unit: 'ms', verdict: 'worse' },
    },
    {
      name: 'median',
      now: { replies: replies(720) },
      before: { replies: replies(700) },
      change: { by: 0, unit: 'ms', verdict: 'neither' },
    },
    { name: 'median', now: {}, before: { replies: replies(700) }, change: undefined },
    {
      name: 'cost',
      now: { costs: [{ currency: 'USD', amount: 3 }] },
      before: { costs: [{ currency: 'INR', amount: 2 }] },
      change: undefined,
    },
  ] as const)('says how $name has changed: $change.verdict', ({ name, now, before, change }) => {
    const tile = (some: object) => tileOf(name, { ...NOTHING, ...some });
    expect(changeOf(tile(now), tile(before))).toEqual(change);
  });

  it('leads to the calls behind a figure', () => {
    const days = { from: '2026-03-05', to: '2026-03-05' };
    expect(linkOf('givenUp', days, 'clinic')).toBe('/calls?from=2026-03-05&to=2026-03-05&bot=clinic&result=given-up');
    expect(linkOf('calls', days, undefined)).toBe('/calls?from=2026-03-05&to=2026-03-05');
  });
});
