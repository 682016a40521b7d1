import { expect, it, test } from 'vitest';
import { activeLevelDb, amplify, peakLevel, rmsLevelDb, SILENCE_DB } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';

test.each([
  { note: 'silence', pcm: new Int16Array(160), levelDb: SILENCE_DB },
  { note: 'nothing', pcm: new Int16Array(), levelDb: SILENCE_DB },
  { note: 'one bit in a second', pcm: Int16Array.from({ length: 8000 }, (_, at) => (at === 0 ? 1 : 0)), levelDb: SILENCE_DB },
  { note: 'a full-scale square wave', pcm: new Int16Array(160).fill(-32_768), levelDb: 0 },
  { note: 'a full-scale sine', pcm: sine(500, 1000, 8000, 1), levelDb: -3.01 },
])('$note has a level of $levelDb dBFS', ({ pcm, levelDb }) => expect(rmsLevelDb(pcm)).toBeCloseTo(levelDb, 1));

it('finds the largest magnitude, also where 16 bits have no positive for it', () => {
  expect(peakLevel(Int16Array.of(3, -32_768, 5))).toBe(32_768);
  expect(peakLevel(new Int16Array())).toBe(0);
});

it('measures the level of speech without its pauses', () => {
  const tone = sine(400, 500, 8000, 0.1);
  const withPauses = new Int16Array(24_000);
  withPauses.set(tone, 8000);
  expect(activeLevelDb(withPauses, 8000)).toBeCloseTo(rmsLevelDb(tone), 1);
  expect(activeLevelDb(new Int16Array(8000), 8000)).toBe(SILENCE_DB);
});

it('amplifies by decibels and limits instead of wrapping round', () => {
  const pcm = Int16Array.of(100, -20_000, 20_000);
  expect([...amplify(pcm, 6.0206)]).toEqual([200, -32_768, 32_767]);
  expect(pcm[0]).toBe(100);
});
