import { expect, it, test } from 'vitest';
import { activeLevelDb, peakLevel, rmsLevelDb } from '../../../../src/audio/level.ts';
import { click, cough } from '../../../../src/sim/caller/cough.ts';

test.each([1, 2, 3])('cough %d is as long and as loud as a cough, and dies away', (seed) => {
  const pcm = cough(300, seed);
  expect(pcm).toHaveLength(2400);
  expect(activeLevelDb(pcm, 8000)).toBeGreaterThan(-27);
  expect(activeLevelDb(pcm, 8000)).toBeLessThan(-15);
  expect(rmsLevelDb(pcm.subarray(0, 400))).toBeGreaterThan(rmsLevelDb(pcm.subarray(-400)) + 15);
});

it('coughs the same for the same seed, and differently for another', () => {
  expect(cough(300, 4)).toEqual(cough(300, 4));
  expect(cough(300, 4)).not.toEqual(cough(300, 5));
});

it('clicks for a few milliseconds, loudly', () => {
  const pcm = click(1);
  expect(pcm.length).toBeLessThan(10 * 8);
  expect(peakLevel(pcm)).toBeGreaterThan(5000);
});
