import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { DetectorLine } from '../../../src/audio/detector-line.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { noise, seededRandom, sine } from '../../../src/audio/tone.ts';

/** What a detector hears of a tone, in dB against it. */
function heardDb(hz: number): number {
  const heard = new DetectorLine(16_000).process(sine(hz, 500, 16_000, 0.9)).slice(200);
  return rmsLevelDb(heard) - rmsLevelDb(sine(hz, 500, 16_000, 0.9));
}

describe('a wideband line as detectors hear it', () => {
  test.each([100, 300, 1_000, 2_000, 3_000, 3_400])('has a tone of %d Hz at its level', (hz) => {
    expect(Math.abs(heardDb(hz))).toBeLessThan(0.1);
  });

  test.each([4_600, 5_000, 6_000, 7_000, 7_900])('has no alias of a tone of %d Hz', (hz) => {
    expect(heardDb(hz)).toBeLessThan(-48);
  });

  it('has half the samples, the same ones however it is cut', () => {
    const pcm = noise(200, 16_000, 0.6, seededRandom(5));
    const whole = new DetectorLine(16_000).process(pcm).slice();
    expect(whole).toHaveLength(pcm.length / 2);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 12 }), (sizes) => {
        const line = new DetectorLine(16_000);
        const parts: number[] = [];
        let at = 0;
        for (const size of [...sizes, pcm.length]) {
          parts.push(...line.process(pcm.subarray(at, at + size)));
          at = Math.min(pcm.length, at + size);
        }
        expect(Int16Array.from(parts)).toEqual(whole);
      }),
    );
  });
});

it('gives a telephone line as it is', () => {
  const pcm = Int16Array.of(1, 2, 3);
  expect(new DetectorLine(8_000).process(pcm)).toBe(pcm);
});

it('takes lines of other rates, as a recogniser of whole utterances may be given', () => {
  const heard = new DetectorLine(24_000).process(sine(1_000, 200, 24_000, 0.5));
  expect(heard).toHaveLength(1_600);
  expect(rmsLevelDb(heard.subarray(200))).toBeCloseTo(rmsLevelDb(sine(1_000, 175, 8_000, 0.5)), 1);
});
