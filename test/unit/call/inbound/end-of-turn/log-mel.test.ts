import { expect, it, test } from 'vitest';
import { resample } from '../../../../../src/audio/resample.ts';
import { BANDS, LogMel, STEPS } from '../../../../../src/call/inbound/end-of-turn/log-mel.ts';

/** A swept tone that swells, and noise. */
function sound(samples: number): Int16Array {
  let state = 12_345n;
  return Int16Array.from({ length: samples }, (_, index) => {
    state = (state * 1_103_515_245n + 12_345n) % 2n ** 31n;
    const t = index / 16_000;
    const tone = Math.sin(2 * Math.PI * (200 * t + 150 * t * t)) * (0.5 + 0.5 * Math.sin(6 * Math.PI * t));
    return Math.round(6_000 * tone + 400 * (Number(state) / 2 ** 30 - 1));
  });
}

function featuresOf(pcm: Int16Array): Float32Array {
  const features = new Float32Array(BANDS * STEPS);
  new LogMel().process(pcm, features);
  return features;
}

/** Values of some bands at `AT_STEPS` as computed by the extractor that ships with Smart Turn v3.2 (pipecat-ai 1.14.0, NumPy 2). */
const AT_STEPS = [0, 400, 700, 799];
const REFERENCES = [
  {
    samples: 24000,
    mean: 0.11584,
    bands: {
      0: [-0.04465, -0.04465, 0.53175, 0.6184],
      3: [-0.04465, -0.04465, 0.85031, 0.80412],
      17: [-0.04465, -0.04465, 0.71449, 1.76697],
      40: [-0.04465, -0.04465, 0.82718, 0.85399],
      63: [-0.04465, -0.04465, 0.80165, 0.80618],
      79: [-0.04465, -0.04465, 0.78061, 0.77245],
    },
  },
  {
    samples: 150000,
    mean: 0.62149,
    bands: {
      0: [1.15514, 0.52703, 0.74891, 0.67086],
      3: [1.16062, 0.66622, 0.41556, 0.64435],
      17: [1.52529, 0.55251, 0.65105, 0.54429],
      40: [0.79014, 1.32616, 0.58827, 0.61741],
      63: [0.69566, 0.60314, 0.54196, 0.61501],
      79: [0.66269, 0.62351, 0.61578, 0.69761],
    },
  },
] as const;

test.each(REFERENCES)('features of $samples samples are those of the reference', ({ samples, mean, bands }) => {
  const features = featuresOf(sound(samples));
  for (const [band, values] of Object.entries(bands))
    for (const [index, step] of AT_STEPS.entries())
      expect(features[Number(band) * STEPS + step]).toBeCloseTo(values[index] ?? NaN, 4);
  expect(features.reduce((sum, value) => sum + value, 0) / features.length).toBeCloseTo(mean, 4);
});

it('hears the end of more than 8 s, and silence before less', () => {
  const long = sound(150_000);
  expect(featuresOf(long)).toEqual(featuresOf(long.subarray(150_000 - 128_000)));
  const padded = new Int16Array(128_000);
  padded.set(sound(24_000), 104_000);
  expect(featuresOf(sound(24_000))).toEqual(featuresOf(padded));
});

it('finds a tone of a telephone line in its band, and nothing above 4 kHz', () => {
  const line = Int16Array.from({ length: 64_000 }, (_, index) => 8_000 * Math.sin((2 * Math.PI * 1_000 * index) / 8_000));
  const features = featuresOf(resample(line, 8_000, 16_000));
  const levels = Array.from({ length: BANDS }, (_, band) => features[band * STEPS + 400] ?? 0);
  // 1 kHz is 15 mel of 45.2; the bands' middles are 45.2 / 81 apart.
  expect(levels.indexOf(Math.max(...levels))).toBe(Math.round((15 * 81) / 45.245) - 1);
  expect(Math.max(...levels.slice(62))).toBeLessThan(Math.max(...levels) - 1.2);
});

it('makes finite features of silence', () => {
  for (const pcm of [new Int16Array(), new Int16Array(128_000)]) expect(featuresOf(pcm).every(Number.isFinite)).toBe(true);
});
