import { resample } from '../../../audio/resample.ts';
import { embedStatistics, similarity } from './embedding.ts';
import { voiceFrames, voiceStatistics } from './voice-features.ts';

/** Audio kept for finals that are still to come. */
const KEPT_S = 40;
/** Below this similarity to all speakers a voice is a new speaker. Lower than `SAME_VOICE`, because utterances are short. */
const STRANGER = 0.3;

export interface SpeakerTrackerOptions {
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
