import { describe, expect, it } from 'vitest';
import { LineClock } from '../../../../../src/call/inbound/echo/line-clock.ts';

const message = (value: number, ms = 100): Int16Array => new Int16Array(ms * 8).fill(value);

/** A line whose frames arrive 30 ms after they were spoken; its time 0 is 1,000 on our clock. */
function lineUntil(ms: number, clock = new LineClock(), fromMs = 0): LineClock {
  for (let at = fromMs; at < ms; at += 20) {
    clock.arrived(160, at, 1_030 + at);
    clock.framed();
  }
  return clock;
}

/** The last `ms` played, one sample for each millisecond. */
function played(clock: LineClock, ms: number, lag = 0): number[] {
  const out = new Int16Array(ms * 8);
  clock.copyBefore(lag, out);
  return Array.from({ length: ms }, (_, index) => out[index * 8]!);
}

const runs = (values: readonly number[]): string => {
  const parts: { value: number; count: number }[] = [];
  for (const value of values) {
    const last = parts.at(-1);
    if (last?.value === value) last.count += 1;
    else parts.push({ value, count: 1 });
  }
  return parts.map(({ value, count }) => `${value}x${count}`).join(' ');
};

describe('what was sent', () => {
  it('stands beside what the line carried at the time it was played', () => {
    const clock = lineUntil(200);
    clock.sent(message(7), 1_330, 0);
    lineUntil(400, clock, 200);
    // 1,330 on our clock is 300 on the line's: frames arrive 30 ms late.
    expect(runs(played(clock, 400))).toBe('0x300 7x100');
  });

  it('goes on without a seam although its times are rounded', () => {
    const clock = lineUntil(200);
    clock.sent(message(7), 1_230, 0);
    clock.sent(message(8), 1_334, 0);
    lineUntil(400, clock, 200);
    expect(runs(played(clock, 400))).toBe('0x200 7x100 8x100');
  });

  it('is silent where it was taken back', () => {
    const clock = lineUntil(200);
    clock.sent(message(7), 1_230, 0);
    clock.cleared(1_270);
    lineUntil(400, clock, 200);
    expect(runs(played(clock, 400))).toBe('0x200 7x40 0x160');
  });

  it('stands later when marks come back late, from its next start on and by no less than 30 ms', () => {
    const clock = lineUntil(200);
    clock.sent(message(7), 1_230, 20);
    clock.sent(message(8), 1_330, 60);
    clock.sent(message(9), 1_480, 60);
    lineUntil(600, clock, 200);
    expect(runs(played(clock, 600))).toBe('0x200 7x100 8x100 0x110 9x90');
  });

  it('is forgotten by the ring when it is long past', () => {
    const clock = lineUntil(200);
    clock.sent(message(7), 1_230, 0);
    lineUntil(10_000, clock, 200);
    expect(runs(played(clock, 1_500))).toBe('0x1500');
    expect(clock.soundedWithin(12_000)).toBe(false);
  });
});

describe('the line', () => {
  it('skips what the carrier lost', () => {
    const clock = lineUntil(200);
    clock.sent(message(7), 1_330, 0);
    clock.arrived(160, 320, 1_350);
    clock.framed();
    expect(runs(played(clock, 340))).toBe('0x300 7x40');
  });

  it('goes on when another stream counts from 0, and says so', () => {
    const clock = lineUntil(200);
    expect(clock.arrived(160, 200, 1_230)).toBe(true);
    clock.framed();
    expect(clock.arrived(160, 0, 3_000)).toBe(false);
    clock.framed();
    expect(clock.arrived(160, 20, 3_020)).toBe(true);
  });

  it('is counted where the carrier gives no times', () => {
    const clock = new LineClock();
    clock.sent(message(7), 1_000, 0);
    for (let at = 0; at < 200; at += 20) {
      clock.arrived(160, undefined, 1_000 + at);
      clock.framed();
    }
    expect(runs(played(clock, 200))).toBe('7x100 0x100');
  });
});
