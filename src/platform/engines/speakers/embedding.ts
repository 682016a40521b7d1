import { voiceFrames, STATISTICS, voiceStatistics } from './voice-features.ts';
import { SAME_VOICE } from './port.ts';

/** The cosine that is worth `SAME_VOICE`: there, as many pairs of one voice fall short as pairs of two pass. */
const CROSSING = 0.83;

/** How quickly the similarity changes there. */
const STEEPNESS = 17;

/**
 * Describes a voice as a point, so that recordings of one person lie in one direction: the means and spreads of 16
 * cepstral coefficients, the pitch and its spread, over voiced frames in the telephone's band, each measured in how far
 * it wavers within one voice (scripts/learn-voice-scale.ts). Loudness does not matter; the line and the room do.
 * @param pcm16k mono at 16 kHz; three seconds of speech or more are worth comparing, half a second is guesswork
 * @returns unit length; all zeros when there is no voice in it, which is like nobody
 */
export function embedSpeaker(pcm16k: Int16Array): Float32Array {
  return embedStatistics(voiceStatistics(voiceFrames(pcm16k)));
}

/** The same of audio that is summed up already. */
export function embedStatistics(statistics: ArrayLike<number> | undefined): Float32Array {
  const out = new Float32Array(STATISTICS);
  if (statistics === undefined) return out;
  const scaled = Array.from(statistics, (value, index) => (value - (average[index] ?? 0)) / (wavering[index] ?? 0));
  const length = Math.hypot(...scaled);
  return length === 0 ? out : Float32Array.from(scaled, (value) => value / length);
}

/**
 * How alike two voices are, 0 to 1, from embeddings; `SAME_VOICE` is where the two kinds of error are equally frequent.
 * Measured on clips of some five seconds, clean and through a noisy telephone: see docs/platform-features.md.
 */
export function similarity(a: Float32Array, b: Float32Array): number {
  let cosine = 0;
  for (let index = 0; index < a.length; index += 1) cosine += (a[index] ?? 0) * (b[index] ?? 0);
  if (cosine === 0) return 0;
  const logit = Math.log(SAME_VOICE / (1 - SAME_VOICE)) + STEEPNESS * (cosine - CROSSING);
  return 1 / (1 + Math.exp(-logit));
}

// Learnt from the synthetic voices by scripts/learn-voice-scale.ts: for each of the voice's statistics, in their order.

/** What it is on average over all voices. */
const average: readonly number[] = [
  -5.703, 13.68, -3.643, -1.422, -4.258, -4.941, 1.193, -1.314, 0.1178, 0.2587, 0.5153, 0.5232, 0.7147, 0.336, 1.009, -0.002563,
  15.38, 22.16, 16.44, 13.81, 10.55, 9.164, 8.792, 6.58, 5.862, 4.871, 4.351, 4.085, 3.638, 3.284, 3.081, 2.963, 5.636, 1.963,
  0.7556,
];

/** How far it strays from clip to clip of one voice (standard deviation). */
const wavering: readonly number[] = [
  5.527, 6.356, 4.189, 2.015, 1.971, 1.993, 1.454, 1.046, 0.934, 0.9009, 0.759, 0.7276, 0.6133, 0.6251, 0.6487, 0.5608, 2.961,
  5.878, 3.61, 3.709, 2.413, 1.98, 1.695, 1.124, 1.067, 0.8188, 0.7347, 0.6173, 0.4913, 0.404, 0.3221, 0.2741, 0.3459, 0.8351,
  0.1001,
];
