import { expect, it, test } from 'vitest';
import { dtmf, noise, seededRandom, sine } from '../../../src/audio/tone.ts';

/** Power of one frequency (Goertzel), relative to the whole. */
function share(pcm: Int16Array, frequencyHz: number): number {
  let real = 0;
  let imaginary = 0;
  let whole = 0;
  for (const [at, sample] of pcm.entries()) {
    const angle = (2 * Math.PI * frequencyHz * at) / 8000;
    real += sample * Math.cos(angle);
    imaginary += sample * Math.sin(angle);
    whole += sample * sample;
  }
  return (2 * (real * real + imaginary * imaginary)) / (pcm.length * whole);
}

test.each([
  ['1', 697, 1209],
  ['5', 770, 1336],
  ['9', 852, 1477],
  ['0', 941, 1336],
  ['*', 941, 1209],
  ['#', 941, 1477],
  ['D', 941, 1633],
])('the tone of key %s is %d and %d Hz, half the power each', (key, low, high) => {
  const pcm = dtmf(key, 500, 8000);
  expect(share(pcm, low)).toBeCloseTo(0.5, 1);
  expect(share(pcm, high)).toBeCloseTo(0.5, 1);
});

test.each(['', '12', 'E', ' '])('there is no tone for %j', (key) => {
  expect(() => dtmf(key, 100, 8000)).toThrow(RangeError);
});

it('makes the samples of the duration at the given frequency', () => {
  const pcm = sine(1000, 250, 8000);
  expect(pcm).toHaveLength(2000);
  expect(share(pcm, 1000)).toBeGreaterThan(0.99);
});

it('makes the same noise of the same seed, other noise of another', () => {
  const made = (seed: number): Int16Array => noise(100, 8000, 0.5, seededRandom(seed));
  expect(made(1)).toEqual(made(1));
  expect(made(1)).not.toEqual(made(2));
});

it('yields numbers in [0, 1) that are spread evenly', () => {
  const random = seededRandom(5);
  const numbers = Array.from({ length: 10_000 }, random);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
  expect(numbers.reduce((sum, number) => sum + number, 0) / 10_000).toBeCloseTo(0.5, 1);
});
