import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { resample, Resampler } from '../../../src/audio/resample.ts';
import { noise, seededRandom, sine } from '../../../src/audio/tone.ts';

/** Between a carrier's wire and a call. */
const linePairs = [
  [8000, 16_000],
  [8000, 24_000],
  [16_000, 8000],
  [16_000, 24_000],
  [24_000, 8000],
  [24_000, 16_000],
  [48_000, 8000],
  [48_000, 16_000],
] as const;
const ratePairs = [...linePairs, [22_050, 8000], [44_100, 8000]] as const;

/** Level of what differs, in dB below the level of what was expected, ends apart (the filter sees silence there). */
function errorDb(got: Int16Array, expected: Int16Array): number {
  const edge = 200;
  const middle = expected.subarray(edge, expected.length - edge);
  const difference = middle.map((sample, at) => sample - got[at + edge]!);
  return rmsLevelDb(difference) - rmsLevelDb(middle);
}

test.each(ratePairs)('a 1 kHz tone at %d Hz is the same tone at %d Hz, in the same place', (fromHz, toHz) => {
  const got = resample(sine(1000, 500, fromHz, 0.5), fromHz, toHz);
  const expected = sine(1000, 500, toHz, 0.5);
  expect(got).toHaveLength(expected.length);
  // 16-bit rounding alone is at about -83 dB.
  expect(errorDb(got, expected)).toBeLessThan(-75);
});

test.each([
  [44_101, 16_000],
  [8000, 47_999],
  [191_999, 8000],
] as const)('a 1 kHz tone stays one between rates as odd as %d and %d Hz', (fromHz, toHz) => {
  const got = resample(sine(1000, 500, fromHz, 0.5), fromHz, toHz);
  const expected = sine(1000, 500, toHz, 0.5).subarray(0, got.length);
  expect(errorDb(got, expected)).toBeLessThan(-70);
});

it('makes no filter for each phase of odd rates, and keeps the filters of few rates', () => {
  const before = process.memoryUsage().arrayBuffers;
  for (let rateHz = 44_101; rateHz < 44_101 + 2 * 24; rateHz += 2) resample(Int16Array.of(0), rateHz, 16_000);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40e6);
});

/** Every 80 Hz, and both sides of the lower rate's Nyquist frequency. */
function* tones(fromHz: number, untilHz: number): Generator<number> {
  for (let hz = fromHz; hz < untilHz; hz += 80) yield hz;
}

describe.each(linePairs)('a line from %d to %d Hz', (fromHz, toHz) => {
  const nyquistHz = Math.min(fromHz, toHz) / 2;
  const passHz = nyquistHz * 0.85;

  it('lets every tone of the pass band through at its level, within 0.1 dB', () => {
    for (const hz of tones(100, passHz)) {
      const got = resample(sine(hz, 200, fromHz, 0.5), fromHz, toHz);
      // A whole number of periods, so that the level is the tone's own.
      const period = Math.round(toHz / 20);
      const levelDb = rmsLevelDb(got.subarray(period, 3 * period)) - rmsLevelDb(sine(hz, 100, toHz, 0.5));
      expect(Math.abs(levelDb), `${hz} Hz`).toBeLessThan(0.1);
    }
  });

  it('adds no image of a tone that is within 60 dB of it', () => {
    for (const hz of tones(100, passHz)) {
      const got = resample(sine(hz, 200, fromHz, 0.5), fromHz, toHz);
      expect(errorDb(got, sine(hz, 200, toHz, 0.5)), `${hz} Hz`).toBeLessThan(-60);
    }
  });

  it('gives whole frames for whole frames, which are the whole stream without a seam', () => {
    const pcm = noise(400, fromHz, 0.6, seededRandom(7));
    const whole = Resampler.forLine(fromHz, toHz).process(pcm);
    const line = Resampler.forLine(fromHz, toHz);
    const frames: number[] = [];
    for (let at = 0; at < pcm.length; at += fromHz / 50) {
      const frame = line.process(pcm.subarray(at, at + fromHz / 50));
      expect(frame).toHaveLength(toHz / 50);
      frames.push(...frame);
    }
    expect(Int16Array.from(frames)).toEqual(whole);
  });
});

test.each(linePairs.filter(([fromHz, toHz]) => fromHz > toHz))(
  'a line from %d to %d Hz rejects every tone above half its rate by at least 60 dB',
  (fromHz, toHz) => {
    const nyquistHz = toHz / 2;
    for (const hz of [nyquistHz + 1, ...tones(nyquistHz + 10, fromHz / 2)]) {
      const tone = sine(hz, 200, fromHz, 0.9);
      const got = resample(tone, fromHz, toHz).subarray(toHz / 50, -toHz / 50);
      expect(rmsLevelDb(got) - rmsLevelDb(tone), `${hz} Hz`).toBeLessThan(-60);
    }
  },
);

it('gives the same samples, however the stream is cut', () => {
  const pcm = noise(150, 24_000, 0.6, seededRandom(4));
  fc.assert(
    fc.property(
      fc.constantFrom(...ratePairs),
      fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 12 }),
      ([fromHz, toHz], sizes) => {
        const resampler = new Resampler(fromHz, toHz);
        const parts: number[] = [];
        let at = 0;
        for (const size of [...sizes, pcm.length]) {
          parts.push(...resampler.process(pcm.subarray(at, at + size)));
          at = Math.min(pcm.length, at + size);
        }
        parts.push(...resampler.flush());
        expect(Int16Array.from(parts)).toEqual(resample(pcm, fromHz, toHz));
      },
    ),
    { numRuns: 60 },
  );
});

it('has round(length x to / from) samples', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.constantFrom(...ratePairs), (length, [fromHz, toHz]) => {
      expect(resample(new Int16Array(length), fromHz, toHz)).toHaveLength(Math.round((length * toHz) / fromHz));
    }),
    { numRuns: 60 },
  );
});

it('keeps a steady level steady and limits at full scale', () => {
  const got = resample(new Int16Array(1600).fill(32_767), 16_000, 8000);
  expect(Math.min(...got.subarray(100, 700))).toBeGreaterThan(32_700);
});

it('copies where the rates are the same', () => {
  const pcm = Int16Array.of(1, 2, 3);
  const got = resample(pcm, 8000, 8000);
  expect(got).toEqual(pcm);
  expect(got.buffer).not.toBe(pcm.buffer);
});

test.each([0, -8000, 8000.5, 500, Number.NaN])('refuses a rate of %d Hz', (rateHz) => {
  expect(() => new Resampler(rateHz, 8000)).toThrow(RangeError);
});
