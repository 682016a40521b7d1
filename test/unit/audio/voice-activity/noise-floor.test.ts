import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BANDS } from '../../../../src/audio/voice-activity/band-powers.ts';
import { NoiseFloor } from '../../../../src/audio/voice-activity/noise-floor.ts';
import { seededRandom } from '../../../../src/audio/tone.ts';

const flat = (power: number): Float64Array => new Float64Array(BANDS).fill(power);

/** A noise floor after some frames of constant power. */
function learnt(power: number, frames = 100): NoiseFloor {
  const line = new NoiseFloor();
  for (let frame = 0; frame < frames; frame += 1) {
    line.likelihood(flat(power));
    line.update(flat(power), 'noise');
  }
  return line;
}

it('gives likelihood 0 to its own noise and to quieter frames, and more to louder ones', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1_000_000 }), fc.double({ min: 1.01, max: 100, noNaN: true }), (power, ratio) => {
      const line = learnt(power);
      expect(line.likelihood(flat(power))).toBeCloseTo(0, 3);
      expect(line.likelihood(flat(power / ratio))).toBe(0);
      expect(line.likelihood(flat(power * ratio * 1.5))).toBeGreaterThan(line.likelihood(flat(power * ratio)));
    }),
  );
});

it('finds a sound that fills a single band', () => {
  const line = learnt(1_000);
  const powers = flat(1_000);
  powers[10] = 30_000;
  expect(line.likelihood(powers)).toBeGreaterThan(1.5);
});

it('moves little for a click, not at all for a voice, and follows a drone within two seconds', () => {
  const click = learnt(1_000);
  click.update(flat(1e9), 'noise');
  expect(click.power).toBeLessThan(1_200);

  const voice = learnt(1_000);
  for (let frame = 0; frame < 100; frame += 1) voice.update(flat(frame % 5 === 0 ? 1_000 : 1e7), 'voice');
  expect(voice.power).toBeCloseTo(1_000, 0);

  const drone = learnt(1_000);
  for (let frame = 0; frame < 90; frame += 1) drone.update(flat(1e7), 'drone');
  expect(drone.power).toBeGreaterThan(9e6);
});

it('takes a power that was the minimum for six seconds for noise, even when every frame was called a voice', () => {
  const line = learnt(1_000, 151);
  for (let frame = 0; frame < 300; frame += 1) line.update(flat(1e6), 'voice');
  expect(line.power).toBeGreaterThan(9e5);
});

it('stays finite and above zero for any powers', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e10, noNaN: true }), { minLength: 1, maxLength: 60 }), (powers) => {
      const line = new NoiseFloor();
      for (const [at, power] of powers.entries()) {
        const likelihood = line.likelihood(flat(power));
        expect(likelihood).toBeGreaterThanOrEqual(0);
        line.learnTypical(likelihood);
        line.update(flat(power), (['noise', 'voice', 'drone'] as const)[at % 3]!);
      }
      expect(line.power).toBeGreaterThan(0);
      expect(Number.isFinite(line.typicalLikelihood)).toBe(true);
    }),
  );
});

it('learns a higher typical likelihood on an unsteady line', () => {
  const typical = (spread: number): number => {
    const random = seededRandom(6);
    const line = new NoiseFloor();
    for (let frame = 0; frame < 600; frame += 1) {
      const powers = flat(1_000 * 10 ** ((random() - 0.5) * spread));
      line.learnTypical(line.likelihood(powers));
      line.update(powers, 'noise');
    }
    return line.typicalLikelihood;
  };
  expect(typical(0.3)).toBeLessThan(0.03);
  expect(typical(2)).toBeGreaterThan(0.1);
});
