import { average, wavering } from './voice-scale.ts';
import { voiceFrames } from './voice-frames.ts';
import { STATISTICS, voiceStatistics } from './voice-statistics.ts';

/** The cosine that is worth `SAME_VOICE`: there, as many pairs of one voice fall short as pairs of two pass. */
const CROSSING = 0.83;
/** How quickly the similarity changes there. */
const STEEPNESS = 17;
/** The similarity from which two recordings count as one voice. */
export const SAME_VOICE = 0.7;

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
  const scaled = Array.from(statistics, (value, index) => (value - average[index]!) / wavering[index]!);
  const length = Math.hypot(...scaled);
  return length === 0 ? out : Float32Array.from(scaled, (value) => value / length);
}

/**
 * How alike two voices are, 0 to 1, from embeddings; `SAME_VOICE` is where the two kinds of error are equally frequent.
 * Measured on clips of some five seconds, clean and through a noisy telephone: see docs/platform-features.md.
 */
export function similarity(a: Float32Array, b: Float32Array): number {
  let cosine = 0;
  for (let index = 0; index < a.length; index += 1) cosine += a[index]! * (b[index] ?? 0);
  if (cosine === 0) return 0;
  const logit = Math.log(SAME_VOICE / (1 - SAME_VOICE)) + STEEPNESS * (cosine - CROSSING);
  return 1 / (1 + Math.exp(-logit));
}
