/** Samples of messages of any length, put together to so many: a frame to be judged, or what nobody is in a hurry for. */
export class SampleBatch {
  readonly #samples: Int16Array;
  #length = 0;

  /** @param capacity how many samples there are at most */
  constructor(capacity: number) {
    this.#samples = new Int16Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** For how many more there is room. */
  get room(): number {
    return this.#samples.length - this.#length;
  }

  /**
   * Copies in as many as there is room for.
   * @param from the first of them
   * @returns how many those were
   */
  add(pcm: Int16Array, from = 0): number {
    const count = Math.min(pcm.length - from, this.room);
    this.#samples.set(count === pcm.length ? pcm : pcm.subarray(from, from + count), this.#length);
    this.#length += count;
    return count;
  }

  /** @returns all of them, valid until others are added; none are left */
  take(): Int16Array {
    const all = this.room === 0 ? this.#samples : this.#samples.subarray(0, this.#length);
    this.#length = 0;
    return all;
  }
}
