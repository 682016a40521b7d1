import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DelayedLine } from '../../../../src/sim/caller/delayed-line.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

it('hands on at once without a delay', () => {
  const line = new DelayedLine(new ManualClock(), undefined);
  const seen: number[] = [];
  line.pass(() => seen.push(1));
  expect(seen).toEqual([1]);
});

it('keeps the order and loses nothing, however the delays vary', () => {
  const things = fc.array(fc.record({ gapMs: fc.nat(30), delayMs: fc.nat(100) }), { maxLength: 40 });
  fc.assert(
    fc.property(things, (list) => {
      const clock = new ManualClock();
      let delayMs = 0;
      const line = new DelayedLine(clock, () => delayMs);
      const seen: number[] = [];
      for (const [index, thing] of list.entries()) {
        clock.advance(thing.gapMs);
        ({ delayMs } = thing);
        const earliestMs = clock.nowMs() + delayMs;
        line.pass(() => {
          expect(clock.nowMs()).toBeGreaterThanOrEqual(earliestMs);
          seen.push(index);
        });
      }
      clock.advance(200);
      expect(seen).toEqual(list.map((_, index) => index));
    }),
  );
});

it('delivers nothing that was on the wire when it was cut', () => {
  const clock = new ManualClock();
  const line = new DelayedLine(clock, () => 50);
  const seen: number[] = [];
  line.pass(() => seen.push(1));
  line.cut();
  clock.advance(100);
  expect(seen).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});
