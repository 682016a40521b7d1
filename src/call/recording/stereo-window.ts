/** What windows give out last; one for all, since each is looked at before the next is asked. */
let taken = new Int16Array(0);

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
    const first = Math.max(0, Math.min(pcm.length, this.#start - atSample));
    const end = Math.max(first, Math.min(pcm.length, this.#start + this.#capacity - atSample));
    this.droppedSamples += pcm.length - (end - first);
    if (end === first) return;
    const slot = (atSample + first) % this.#capacity;
    const before = Math.min(end - first, this.#capacity - slot);
    if (before === pcm.length) {
      ring.set(pcm, slot);
      return;
    }
    ring.set(pcm.subarray(first, first + before), slot);
    if (first + before < end) ring.set(pcm.subarray(first + before, end), 0);
  }

  /** Silences a channel from a position on: audio that was taken back before it was played. */
  silenceFrom(channel: 'left' | 'right', atSample: number): void {
    const ring = channel === 'left' ? this.#left : this.#right;
    for (let position = Math.max(atSample, this.#start); position < this.#start + this.#capacity; position += 1) {
      ring[position % this.#capacity] = 0;
    }
  }

  /**
   * Takes out everything before `endSample`, interleaved left, right; at most the capacity at once.
   * @returns samples that are lent until any window is asked again
   */
  take(endSample: number): Int16Array<ArrayBuffer> {
    const count = Math.max(0, Math.min(this.#capacity, endSample - this.#start));
    if (taken.length < count * 2) taken = new Int16Array(count * 2);
    const interleaved = taken.subarray(0, count * 2);
    const slot = this.#start % this.#capacity;
    const before = Math.min(count, this.#capacity - slot);
    this.#move(slot, slot + before, interleaved, 0);
    this.#move(0, count - before, interleaved, 2 * before);
    this.#start += count;
    return interleaved;
  }

  /** Interleaves these slots into `target` from `at` on, and leaves silence in them. */
  #move(from: number, to: number, target: Int16Array, at: number): void {
    const left = this.#left;
    const right = this.#right;
    for (let slot = from, place = at; slot < to; slot += 1, place += 2) {
      target[place] = left[slot]!;
      target[place + 1] = right[slot]!;
    }
    left.fill(0, from, to);
    right.fill(0, from, to);
  }
}
