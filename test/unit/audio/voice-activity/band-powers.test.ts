import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { BANDS, bandPowers } from '../../../../src/audio/voice-activity/band-powers.ts';
import { noise, seededRandom, sine } from '../../../../src/audio/tone.ts';

const powersOf = (frame: Int16Array): Float64Array => bandPowers(frame).slice();

it('gives white noise its mean square in every band', () => {
  const random = seededRandom(4);
  const sums = new Float64Array(BANDS);
  for (let frame = 0; frame < 400; frame += 1) {
    for (const [band, power] of powersOf(noise(20, 8_000, 0.03, random)).entries()) sums[band]! += power / 400;
  }
  const meanSquare = (0.03 * 32_767) ** 2 / 3;
  for (const sum of sums) expect(Math.abs(10 * Math.log10(sum / meanSquare))).toBeLessThan(0.5);
});

test.each([
  [200, 0],
  [500, 3],
  [1_000, 6],
  [2_000, 9],
  [3_300, 12],
])('puts a tone of %d Hz into band %d, 15 dB above all but its neighbours', (hz, band) => {
  const powers = powersOf(sine(hz, 20, 8_000));
  const others = [...powers].filter((_, other) => Math.abs(other - band) > 1);
  expect(Math.max(...others)).toBeLessThan((powers[band] ?? 0) / 30);
});

it('is four times as high at twice the amplitude, for any sound', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 200, max: 8_000 }), (seed, peak) => {
      const once = noise(20, 8_000, peak / 32_768, seededRandom(seed));
      const powers = powersOf(once);
      for (const [band, power] of powersOf(once.map((sample) => 2 * sample)).entries())
        expect(power / powers[band]!).toBeCloseTo(4, 6);
    }),
    { numRuns: 40 },
  );
});
