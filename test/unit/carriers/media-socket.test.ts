import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MediaTime } from '../../../src/carriers/media-socket.ts';

it('believes timestamps that keep pace with the clock, lag behind it, or come from any clock', () => {
  const lags = fc.array(fc.tuple(fc.nat(40), fc.nat(3_000)), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.nat(1e14), lags, (firstMs, frames) => {
      const time = new MediaTime();
      let sentMs = 0;
      for (const [gapMs, lagMs] of frames) {
        sentMs += gapMs;
        expect(time.check(firstMs + sentMs, 5_000 + sentMs + lagMs)).toBe(firstMs + sentMs);
      }
    }),
  );
});

it('believes none that is further along than the stream, and goes on with the next that is not', () => {
  const time = new MediaTime();
  expect(time.check(102, 1_000)).toBe(102);
  for (const wild of [99_999_999_999_999, 4_294_967_296, 10_123 + 20]) expect(time.check(wild, 1_020)).toBeUndefined();
  expect(time.check(142, 1_040)).toBe(142);
  // Frame by frame it cannot run away either: the lead is counted from the first.
  expect(time.check(10_142, 1_040)).toBe(10_142);
  expect(time.check(20_142, 1_060)).toBeUndefined();
});

it('takes a frame without a timestamp as one', () => {
  expect(new MediaTime().check(undefined, 7)).toBeUndefined();
});

it.each([1e308, -1e308, 2e15, -1, Number.NaN, Number.POSITIVE_INFINITY])('takes the timestamp %d for none', (timestampMs) => {
  const time = new MediaTime();
  expect(time.check(timestampMs, 1_000)).toBeUndefined();
  expect(time.check(102, 1_020)).toBe(102);
});

it('admits audio for as long as the stream lasts and ten seconds more, however it comes', () => {
  const time = new MediaTime();
  const admitted = (frames: number, nowMs: number): number =>
    Array.from({ length: frames }, () => time.admits(20, nowMs)).filter(Boolean).length * 20;
  expect(admitted(2_000, 1_000)).toBe(10_020);
  expect(admitted(2_000, 3_000)).toBe(2_000);
  // Whatever was not spoken meanwhile may still come, as after a stall.
  expect(admitted(3_000, 63_000)).toBe(60_000);
});

it('admits all of a stream whose clock runs fast', () => {
  const time = new MediaTime();
  const hourMs = 3_600_000;
  let refused = 0;
  for (let sentMs = 0; sentMs < hourMs; sentMs += 20) if (!time.admits(20, sentMs * 0.9999)) refused += 1;
  expect(refused).toBe(0);
});
