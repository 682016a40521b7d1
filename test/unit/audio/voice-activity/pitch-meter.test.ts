import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PitchMeter } from '../../../../src/audio/voice-activity/pitch-meter.ts';
import { noise, seededRandom } from '../../../../src/audio/tone.ts';

const FRAME = 160;

/** By its definition: of two frames at 4 kHz, the newer one against what came 10 to 64 samples earlier. */
function periodicity(frames: Int16Array): number {
  const samples = Array.from({ length: FRAME }, (_, at) => (frames[2 * at]! + frames[2 * at + 1]!) / 2);
  const sum = (one: number, other: number): number =>
    Array.from({ length: FRAME / 2 }, (_, at) => samples[FRAME / 2 + at - one]! * samples[FRAME / 2 + at - other]!).reduce(
      (all, product) => all + product,
      0,
    );
  const alike = Array.from({ length: 55 }, (_, at) => at + 10).map((lag) =>
    Math.max(0, sum(0, lag) / Math.sqrt(sum(0, 0) * sum(lag, lag))),
  );
  return alike.find((share) => share >= 0.9) ?? Math.max(...alike);
}

it('measures the best correlation, or the first sure one, whether or not the frame before was measured', () => {
  const inputs = fc.record({
    seed: fc.nat(),
    hz: fc.integer({ min: 50, max: 500 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(inputs, fc.boolean(), ({ seed, hz, share }, wanted) => {
      const hiss = noise(40, 8_000, 0.3, seededRandom(seed));
      const frames = hiss.map((sample, at) => share * sample + (1 - share) * 9_000 * Math.sin((2 * Math.PI * hz * at) / 8_000));
      const meter = new PitchMeter();
      meter.measure(hiss.subarray(FRAME), wanted);
      meter.measure(frames.subarray(0, FRAME), wanted);
      expect(meter.measure(frames.subarray(FRAME), true)).toBeCloseTo(periodicity(frames), 9);
    }),
    { numRuns: 60 },
  );
});

it('finds no pitch in silence, nor where none is wanted', () => {
  const meter = new PitchMeter();
  expect(meter.measure(new Int16Array(FRAME), true)).toBe(0);
  expect(meter.measure(noise(20, 8_000, 0.3, seededRandom(1)), false)).toBe(0);
});

it('remembers the frames of its own line alone', () => {
  const tone = Int16Array.from({ length: 2 * FRAME }, (_, at) => 9_000 * Math.sin((2 * Math.PI * 150 * at) / 8_000));
  const [one, other] = [new PitchMeter(), new PitchMeter()];
  one.measure(tone.subarray(0, FRAME), true);
  other.measure(noise(20, 8_000, 0.3, seededRandom(2)), true);
  expect(one.measure(tone.subarray(FRAME), true)).toBeGreaterThan(0.85);
  expect(other.measure(tone.subarray(FRAME), true)).toBeLessThan(0.85);
});
