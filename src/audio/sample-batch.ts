/** Collects samples of messages of any length into batches of a fixed size: a frame for a detector, or a block to be written. */
export class SampleBatch {
  readonly #samples: Int16Array;
  #length = 0;

  /** @param capacity samples of a full batch */
  constructor(capacity: number) {
    this.#samples = new Int16Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Samples missing for a full batch. */
  get room(): number {
    return this.#samples.length - this.#length;
  }

  /**
   * Copies as many samples as there is room for.
   * @param from index of the first sample to copy
   * @returns the number copied
   */
  add(pcm: Int16Array, from = 0): number {
    const count = Math.min(pcm.length - from, this.room);
    this.#samples.set(count === pcm.length ? pcm : pcm.subarray(from, from + count), this.#length);
    this.#length += count;
    return count;
  }

  /** Empties the batch. @returns its samples, valid until the next `add` */
  take(): Int16Array {
    const all = this.room === 0 ? this.#samples : this.#samples.subarray(0, this.#length);
    this.#length = 0;
    return all;
  }
}
