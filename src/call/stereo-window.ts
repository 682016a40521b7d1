/**
 * The part of a stereo recording that may still change, on one sample clock: caller left, bot right. What leaves the
 * window is interleaved and final. Silence stands where nothing was put.
 */
export class StereoWindow {
  readonly #left: Int16Array;
  readonly #right: Int16Array;
  readonly #capacity: number;
  /** First sample that has not been taken out. */
  #start = 0;
  droppedSamples = 0;

  /** @param capacitySamples how far ahead of the first sample not yet taken out audio may be put */
  constructor(capacitySamples: number) {
    this.#capacity = capacitySamples;
    this.#left = new Int16Array(capacitySamples);
    this.#right = new Int16Array(capacitySamples);
  }

  get startSample(): number {
    return this.#start;
  }

  /** Puts audio at a position; what lies before or beyond the window is dropped and counted. */
  put(channel: 'left' | 'right', atSample: number, pcm: Int16Array): void {
    const ring = channel === 'left' ? this.#left : this.#right;
    for (let index = 0; index < pcm.length; index += 1) {
      const position = atSample + index;
      if (position < this.#start || position >= this.#start + this.#capacity) this.droppedSamples += 1;
      else ring[position % this.#capacity] = pcm[index] ?? 0;
    }
  }

  /** Silences a channel from a position on: audio that was taken back before it was played. */
  silenceFrom(channel: 'left' | 'right', atSample: number): void {
    const ring = channel === 'left' ? this.#left : this.#right;
    for (let position = Math.max(atSample, this.#start); position < this.#start + this.#capacity; position += 1) {
      ring[position % this.#capacity] = 0;
    }
  }

  /** Takes out everything before `endSample`, interleaved left, right; at most the capacity at once. */
  take(endSample: number): Int16Array {
    const count = Math.max(0, Math.min(this.#capacity, endSample - this.#start));
    const interleaved = new Int16Array(count * 2);
    for (let index = 0; index < count; index += 1) {
      const slot = (this.#start + index) % this.#capacity;
      interleaved[index * 2] = this.#left[slot] ?? 0;
      interleaved[index * 2 + 1] = this.#right[slot] ?? 0;
      this.#left[slot] = 0;
      this.#right[slot] = 0;
    }
    this.#start += count;
    return interleaved;
  }
}
