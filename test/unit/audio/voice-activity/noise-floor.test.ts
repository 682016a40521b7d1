import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LINE_BANDS } from '../../../../src/audio/voice-activity/band-powers.ts';
import { LineNoise } from '../../../../src/audio/voice-activity/noise-floor.ts';
import { seededRandom } from '../../../../src/audio/tone.ts';

const flat = (power: number): Float64Array => new Float64Array(LINE_BANDS).fill(power);

/** A line whose noise stayed at this power for so many frames. */
function learnt(power: number, frames = 100): LineNoise {
  const line = new LineNoise();
  for (let frame = 0; frame < frames; frame += 1) {
    line.likelihood(flat(power));
    line.follow(flat(power), 'noise');
  }
  return line;
}

it('finds nothing in what it knows or what is quieter, and more in what is louder', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1_000_000 }), fc.double({ min: 1.01, max: 100, noNaN: true }), (power, ratio) => {
      const line = learnt(power);
      expect(line.likelihood(flat(power))).toBeCloseTo(0, 3);
      expect(line.likelihood(flat(power / ratio))).toBe(0);
      expect(line.likelihood(flat(power * ratio * 1.5))).toBeGreaterThan(line.likelihood(flat(power * ratio)));
    }),
  );
});

it('finds a sound that fills one band alone', () => {
  const line = learnt(1_000);
  const powers = flat(1_000);
  powers[10] = 30_000;
  expect(line.likelihood(powers)).toBeGreaterThan(1.5);
});

it('learns little from a click, nothing from a voice, and a drone within two seconds', () => {
  const click = learnt(1_000);
  click.follow(flat(1e9), 'noise');
  expect(click.power).toBeLessThan(1_200);

  const voice = learnt(1_000);
  for (let frame = 0; frame < 100; frame += 1) voice.follow(flat(frame % 5 === 0 ? 1_000 : 1e7), 'voice');
  expect(voice.power).toBeCloseTo(1_000, 0);

  const drone = learnt(1_000);
  for (let frame = 0; frame < 90; frame += 1) drone.follow(flat(1e7), 'drone');
  expect(drone.power).toBeGreaterThan(9e6);
});

it('takes for noise what was never quieter for six seconds, even if all of it was taken for a voice', () => {
  const line = learnt(1_000, 151);
  for (let frame = 0; frame < 300; frame += 1) line.follow(flat(1e6), 'voice');
  expect(line.power).toBeGreaterThan(9e5);
});

it('stays finite and above nothing, whatever it hears', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e10, noNaN: true }), { minLength: 1, maxLength: 60 }), (powers) => {
      const line = new LineNoise();
      for (const [at, power] of powers.entries()) {
        const likelihood = line.likelihood(flat(power));
        expect(likelihood).toBeGreaterThanOrEqual(0);
        line.learnUsual(likelihood);
        line.follow(flat(power), (['noise', 'voice', 'drone'] as const)[at % 3]!);
      }
      expect(line.power).toBeGreaterThan(0);
      expect(Number.isFinite(line.usual)).toBe(true);
    }),
  );
});

it('knows an unsteady line by what is usual there', () => {
  const usual = (spread: number): number => {
    const random = seededRandom(6);
    const line = new LineNoise();
    for (let frame = 0; frame < 600; frame += 1) {
      const powers = flat(1_000 * 10 ** ((random() - 0.5) * spread));
      line.learnUsual(line.likelihood(powers));
      line.follow(powers, 'noise');
    }
    return line.usual;
  };
  expect(usual(0.3)).toBeLessThan(0.03);
  expect(usual(2)).toBeGreaterThan(0.1);
});
