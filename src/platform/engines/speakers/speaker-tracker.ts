import { resample } from '../../../audio/resample.ts';
import { embedStatistics, similarity } from './embedding.ts';
import { voiceFrames, voiceStatistics } from './voice-features.ts';

/** Audio that is kept for a final that is still on its way. */
const KEPT_S = 40;
/** Less like everyone than this is somebody new. Below `SAME_VOICE`, because single utterances are short. */
const STRANGER = 0.3;

export interface SpeakerEarOptions {
  readonly rateHz: number;
  /** Speakers there can be. */
  readonly most: number;
}

/** Tells the speakers of a running session apart, one utterance after another; who got a number keeps it. */
export class SpeakerEar {
  readonly #rateHz: number;
  readonly #most: number;
  readonly #kept: Int16Array;
  /** Samples heard so far; the last ones stand in `#kept`, each at its number modulo the length. */
  #heard = 0;
  /** Sums of the statistics of each speaker's utterances. */
  readonly #speakers: { readonly sums: Float64Array; utterances: number }[] = [];

  constructor({ rateHz, most }: SpeakerEarOptions) {
    this.#rateHz = rateHz;
    this.#most = most;
    this.#kept = new Int16Array(KEPT_S * rateHz);
  }

  push(pcm: Int16Array): void {
    for (let index = 0; index < pcm.length; index += 1) this.#kept[(this.#heard + index) % this.#kept.length] = pcm[index] ?? 0;
    this.#heard += pcm.length;
  }

  /**
   * Who spoke between two times of the session, in seconds.
   * @returns counted from 0 in the order of first appearance; undefined when there is too little voice to tell
   */
  speakerOf(startS: number, endS: number): number | undefined {
    const statistics = voiceStatistics(voiceFrames(resample(this.#slice(startS, endS), this.#rateHz, 16_000)));
    if (statistics === undefined) return undefined;
    const embedding = embedStatistics(statistics);
    const alike = this.#speakers.map(({ sums, utterances }) =>
      similarity(embedding, embedStatistics(sums.map((sum) => sum / utterances))),
    );
    const best = alike.indexOf(Math.max(...alike));
    if (best === -1 || ((alike[best] ?? 0) < STRANGER && this.#speakers.length < this.#most)) {
      this.#speakers.push({ sums: statistics, utterances: 1 });
      return this.#speakers.length - 1;
    }
    const speaker = this.#speakers[best]!;
    speaker.utterances += 1;
    for (const [index, value] of statistics.entries()) speaker.sums[index] = (speaker.sums[index] ?? 0) + value;
    return best;
  }

  #slice(startS: number, endS: number): Int16Array {
    const oldest = Math.max(0, this.#heard - this.#kept.length);
    const from = Math.max(oldest, Math.round(startS * this.#rateHz));
    const to = Math.min(this.#heard, Math.round(endS * this.#rateHz));
    return Int16Array.from({ length: Math.max(0, to - from) }, (_, index) => this.#kept[(from + index) % this.#kept.length] ?? 0);
  }
}
