import { voiceFrames, STATISTICS, voiceStatistics } from './voice-features.ts';
import { SAME_VOICE } from './port.ts';
import { resample } from '../../../audio/resample.ts';

/** The cosine at which both errors are equally frequent; its similarity is `SAME_VOICE`. */
const CROSSING = 0.83;
/** Steepness of the similarity there. */
const STEEPNESS = 17;

/**
 * Embeds a voice: mean and deviation of 16 cepstral coefficients, pitch and its spread, over voiced frames in the telephone band. Each
 * value is scaled by its deviation within one voice (scripts/learn-voice-scale.ts). Loudness has no influence; line and room have.
 * @param pcm16k mono at 16 kHz; at least three seconds of speech for a useful comparison
 * @returns a vector of unit length; all zeros when there is no voice in it
 */
export function embedSpeaker(pcm16k: Int16Array): Float32Array {
  return embedStatistics(voiceStatistics(voiceFrames(pcm16k)));
}

/** Embeds the statistics of a voice. */
export function embedStatistics(statistics: ArrayLike<number> | undefined): Float32Array {
  const out = new Float32Array(STATISTICS);
  if (statistics === undefined) return out;
  const scaled = Array.from(statistics, (value, index) => (value - (averages[index] ?? 0)) / (deviations[index] ?? 1));
  const length = Math.hypot(...scaled);
  return length === 0 ? out : Float32Array.from(scaled, (value) => value / length);
}

/**
 * Similarity of two voices, 0 to 1; at `SAME_VOICE` both errors are equally frequent. Measured on clips of some five seconds, clean and
 * through a noisy telephone (docs/platform-features.md).
 */
export function similarity(a: Float32Array, b: Float32Array): number {
  const alike = cosine(a, b);
  if (alike === 0) return 0;
  const logit = Math.log(SAME_VOICE / (1 - SAME_VOICE)) + STEEPNESS * (alike - CROSSING);
  return 1 / (1 + Math.exp(-logit));
}

/** The cosine of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

// Printed by scripts/learn-voice-scale.ts from the synthetic voices, in the order of the statistics.

/** Average over all voices. */
const averages: readonly number[] = [
  -5.703, 13.68, -3.643, -1.422, -4.258, -4.941, 1.193, -1.314, 0.1178, 0.2587, 0.5153, 0.5232, 0.7147, 0.336, 1.009, -0.002563,
  15.38, 22.16, 16.44, 13.81, 10.55, 9.164, 8.792, 6.58, 5.862, 4.871, 4.351, 4.085, 3.638, 3.284, 3.081, 2.963, 5.636, 1.963,
  0.7556,
];

/** Standard deviation over the clips of one voice. */
const deviations: readonly number[] = [
  5.527, 6.356, 4.189, 2.015, 1.971, 1.993, 1.454, 1.046, 0.934, 0.9009, 0.759, 0.7276, 0.6133, 0.6251, 0.6487, 0.5608, 2.961,
  5.878, 3.61, 3.709, 2.413, 1.98, 1.695, 1.124, 1.067, 0.8188, 0.7347, 0.6173, 0.4913, 0.404, 0.3221, 0.2741, 0.3459, 0.8351,
  0.1001,
];

/** Audio kept for finals that are still to come. */
const KEPT_S = 40;
/** Below this similarity to all speakers a voice is a new speaker. Lower than `SAME_VOICE`, because utterances are short. */
const STRANGER = 0.3;

interface SpeakerTrackerOptions {
  readonly rateHz: number;
  /** Most speakers to tell apart. */
  readonly most: number;
}

/** Online diarization of a session: assigns a speaker number to each utterance, and never changes it. */
export class SpeakerTracker {
  readonly #rateHz: number;
  readonly #most: number;
  readonly #kept: Int16Array;
  /** Samples so far; the last ones are in `#kept`, each at its number modulo the length. */
  #received = 0;
  /** For each speaker, the sums of the statistics of all utterances. */
  readonly #speakers: { readonly sums: Float64Array; utterances: number }[] = [];

  constructor({ rateHz, most }: SpeakerTrackerOptions) {
    this.#rateHz = rateHz;
    this.#most = most;
    this.#kept = new Int16Array(KEPT_S * rateHz);
  }

  push(pcm: Int16Array): void {
    for (const [index, sample] of pcm.entries()) this.#kept[(this.#received + index) % this.#kept.length] = sample;
    this.#received += pcm.length;
  }

  /**
   * The speaker between two times of the session, in seconds.
   * @returns from 0, numbered by first appearance; undefined when there is too little voice
   */
  speakerOf(startS: number, endS: number): number | undefined {
    const statistics = voiceStatistics(voiceFrames(resample(this.#slice(startS, endS), this.#rateHz, 16_000)));
    if (statistics === undefined) return undefined;
    const embedding = embedStatistics(statistics);
    const alike = this.#speakers.map(({ sums, utterances }) =>
      similarity(embedding, embedStatistics(sums.map((sum) => sum / utterances))),
    );
    const most = Math.max(...alike);
    const best = alike.indexOf(most);
    const speaker = this.#speakers[best];
    if (speaker === undefined || (most < STRANGER && this.#speakers.length < this.#most)) {
      this.#speakers.push({ sums: statistics, utterances: 1 });
      return this.#speakers.length - 1;
    }
    speaker.utterances += 1;
    for (const [index, value] of statistics.entries()) speaker.sums[index] = (speaker.sums[index] ?? 0) + value;
    return best;
  }

  #slice(startS: number, endS: number): Int16Array {
    const oldest = Math.max(0, this.#received - this.#kept.length);
    const from = Math.max(oldest, Math.round(startS * this.#rateHz));
    const to = Math.min(this.#received, Math.round(endS * this.#rateHz));
    return Int16Array.from({ length: Math.max(0, to - from) }, (_, index) => this.#kept[(from + index) % this.#kept.length] ?? 0);
  }
}
