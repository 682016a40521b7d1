/** Half the telephone's sample rate: enough for pitch, at a quarter of the work. */
const PITCH_RATE_HZ = 4_000;
const LOWEST_HZ = 60;
const HIGHEST_HZ = 420;
const LONGEST_LAG = Math.ceil(PITCH_RATE_HZ / LOWEST_HZ);
const SHORTEST_LAG = Math.floor(PITCH_RATE_HZ / HIGHEST_HZ);
/** Samples correlated with those one lag later: 40 ms. */
const WINDOW = 160;
/** Below this normalised correlation a frame is breath, noise or silence. */
const VOICED = 0.6;
/** A shorter lag with this share of the best correlation wins: the best lag is a multiple of it. */
const NEARLY = 0.87;

/** Halves the rate of 8 kHz samples by averaging pairs, which is filter enough below 420 Hz. */
export function forPitch(pcm8k: Int16Array): Float64Array {
  return Float64Array.from({ length: pcm8k.length >> 1 }, (_, index) => (pcm8k[2 * index] ?? 0) + (pcm8k[2 * index + 1] ?? 0));
}

/**
 * The fundamental frequency at one place, by normalised autocorrelation.
 * @param samples 4 kHz, from `forPitch`
 * @param at      first sample of the window
 * @returns Hz, 60 to 420; undefined where the sound is not periodic
 */
export function pitchAt(samples: Float64Array, at: number): number | undefined {
  if (at + WINDOW + LONGEST_LAG > samples.length) return undefined;
  const correlations = new Float64Array(LONGEST_LAG + 1);
  let here = 0;
  for (let n = 0; n < WINDOW; n += 1) here += (samples[at + n] ?? 0) ** 2;
  if (here < WINDOW) return undefined;
  let best = 0;
  for (let lag = SHORTEST_LAG; lag <= LONGEST_LAG; lag += 1) {
    let cross = 0;
    let there = 0;
    for (let n = 0; n < WINDOW; n += 1) {
      const later = samples[at + n + lag] ?? 0;
      cross += (samples[at + n] ?? 0) * later;
      there += later * later;
    }
    correlations[lag] = cross / Math.sqrt(here * there + 1);
    best = Math.max(best, correlations[lag] ?? 0);
  }
  if (best < VOICED) return undefined;
  for (let lag = SHORTEST_LAG + 1; lag < LONGEST_LAG; lag += 1) {
    const [left, middle, right] = [correlations[lag - 1] ?? 0, correlations[lag] ?? 0, correlations[lag + 1] ?? 0];
    if (middle < best * NEARLY || middle < left || middle < right) continue;
    const bend = left - 2 * middle + right;
    return PITCH_RATE_HZ / (lag + (bend === 0 ? 0 : (0.5 * (left - right)) / bend));
  }
  return undefined;
}
