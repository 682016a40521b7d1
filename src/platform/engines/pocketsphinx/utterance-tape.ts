/** Of one utterance so much is kept; the built-in recogniser cuts one after 20 s. */
const KEPT_S = 22;

/** The last seconds of a stream, so that an utterance can be heard a second time. */
export class UtteranceTape {
  readonly #rateHz: number;
  readonly #samples: Int16Array;
  /** Samples of the stream so far. */
  #written = 0;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#samples = new Int16Array(KEPT_S * rateHz);
  }

  push(pcm: Int16Array): void {
    const size = this.#samples.length;
    const kept = pcm.subarray(Math.max(0, pcm.length - size));
    const at = (this.#written + pcm.length - kept.length) % size;
    const first = Math.min(kept.length, size - at);
    this.#samples.set(kept.subarray(0, first), at);
    this.#samples.set(kept.subarray(first), 0);
    this.#written += pcm.length;
  }

  /**
   * A copy of the stream from one time to another, as far as it is kept.
   * @returns with the time of its first sample
   */
  cut(startS: number, endS: number): { pcm: Int16Array; startS: number } {
    const size = this.#samples.length;
    const from = Math.max(0, this.#written - size, Math.floor(startS * this.#rateHz));
    const to = Math.max(from, Math.min(this.#written, Math.ceil(endS * this.#rateHz)));
    const pcm = new Int16Array(to - from);
    const at = from % size;
    const first = Math.min(pcm.length, size - at);
    pcm.set(this.#samples.subarray(at, at + first));
    pcm.set(this.#samples.subarray(0, pcm.length - first), first);
    return { pcm, startS: from / this.#rateHz };
  }
}
