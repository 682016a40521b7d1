import { expect, it } from 'vitest';
import { Level } from '../../../src/console/audio/levels.ts';

it('shows the loudest of a moment, falls within a second, and tells sound from silence', () => {
  const level = new Level();
  level.heard(0.1, 1_000);
  expect(level.at(1_000)).toBeCloseTo(2 / 3, 2);
  expect(level.sounds(1_000)).toBe(true);
  level.heard(0.0001, 1_100);
  expect(level.at(1_100)).toBeGreaterThan(0.4);
  expect(level.sounds(1_200)).toBe(true);
  expect(level.sounds(1_500)).toBe(false);
  expect(level.at(2_000)).toBe(0);
  level.heard(2, 2_000);
  expect(level.at(2_000)).toBe(1);
});
