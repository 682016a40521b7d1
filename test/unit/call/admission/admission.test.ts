import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoadWatch, nextShedding, roomFor } from '../../../../src/call/admission/admission.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const limits = fc
  .record({ acceptLagMs: fc.integer({ min: 1, max: 1_000 }), above: fc.integer({ min: 0, max: 1_000 }) })
  .map(({ acceptLagMs, above }) => ({ acceptLagMs, refuseLagMs: acceptLagMs + above }));
const lag = fc.double({ min: 0, max: 3_000, noNaN: true });

describe('roomFor', () => {
  it('never lets more calls in than the limit, whatever the order they come and go in', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.boolean(), { maxLength: 200 }), (maximum, comings) => {
        let active = 0;
        let refused = 0;
        for (const comes of comings) {
          if (!comes) active = Math.max(0, active - 1);
          else if (roomFor({ maximum }, { active, shedding: false }) === 'room') active += 1;
          else {
            refused += 1;
            // Refused only when full: not a call too few either.
            expect(active).toBe(maximum);
          }
          expect(active).toBeLessThanOrEqual(maximum);
        }
        expect(refused).toBeLessThanOrEqual(Math.max(0, comings.filter(Boolean).length - maximum));
      }),
    );
  });

  it('names the count before the lag, and the lag when there is room by count', () => {
    expect(roomFor({ maximum: 2 }, { active: 2, shedding: true })).toBe('calls');
    expect(roomFor({ maximum: 2 }, { active: 1, shedding: true })).toBe('loop-lag');
    expect(roomFor({ maximum: 2 }, { active: 1, shedding: false })).toBe('room');
  });
});

describe('nextShedding', () => {
  it('begins only at the upper lag, ends only at the lower, and stays as it is between', () => {
    fc.assert(
      fc.property(limits, fc.array(lag, { maxLength: 100 }), (between, lags) => {
        let shedding = false;
        for (const lagMs of lags) {
          const next = nextShedding(between, shedding, lagMs);
          const isAtLimit = lagMs === between.acceptLagMs || lagMs === between.refuseLagMs;
          const right = lagMs > between.refuseLagMs ? [true] : lagMs < between.acceptLagMs ? [false] : [shedding];
          expect(isAtLimit ? [true, false] : right).toContain(next);
          shedding = next;
        }
      }),
    );
  });

  it('does not flicker at the limit', () => {
    const between = { refuseLagMs: 200, acceptLagMs: 100 };
    const told: boolean[] = [];
    let shedding = false;
    for (const lagMs of [150, 199, 200, 150, 190, 101, 100, 150]) told.push((shedding = nextShedding(between, shedding, lagMs)));
    expect(told).toEqual([false, false, true, true, true, true, false, false]);
  });
});

it('LoadWatch judges the lag of each window, and stops when disposed of', () => {
  const clock = new ManualClock();
  let lagMs = 0;
  let closed = false;
  const watch = new LoadWatch({
    limits: { refuseLagMs: 200, acceptLagMs: 100 },
    lag: { takeP99Ms: () => lagMs, [Symbol.dispose]: () => void (closed = true) },
    clock,
    logger: silentLogger,
  });
  lagMs = 400;
  clock.advance(1_999);
  expect(watch.shedding).toBe(false);
  clock.advance(1);
  expect(watch).toMatchObject({ shedding: true, lagMs: 400 });
  lagMs = 120;
  clock.advance(2_000);
  expect(watch).toMatchObject({ shedding: true, lagMs: 120 });
  lagMs = 3;
  clock.advance(2_000);
  expect(watch).toMatchObject({ shedding: false, lagMs: 3 });
  watch[Symbol.dispose]();
  expect(closed).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});
