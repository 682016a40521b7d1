/**
 * The caller's audio since the last final, on one sample position that never restarts: what is still to be sent, and what
 * must be sent again when the session dies. A preallocated ring; the oldest samples are dropped when it is full.
 */
export class ReplayBuffer {
  readonly #ring: Int16Array;
  /** First sample kept, next sample to send, and one past the last sample. */
  #start = 0;
  #next = 0;
  #end = 0;

  /** @param capacitySamples how much is kept at most */
  constructor(capacitySamples: number) {
    this.#ring = new Int16Array(capacitySamples);
  }

  get start(): number {
    return this.#start;
  }

  get next(): number {
    return this.#next;
  }

  get end(): number {
    return this.#end;
  }

  /** Copies samples in. @returns how many unsent ones were dropped to make room */
  push(pcm: Int16Array): number {
    const capacity = this.#ring.length;
    for (let index = 0; index < pcm.length; index += 1) this.#ring[(this.#end + index) % capacity] = pcm[index]!;
    this.#end += pcm.length;
    this.#start = Math.max(this.#start, this.#end - capacity);
    const lost = Math.max(0, this.#start - this.#next);
    this.#next = Math.max(this.#next, this.#start);
    return lost;
  }

  /** Takes the next samples to send, at most up to `untilSample`, as little-endian bytes of their own. */
  take(untilSample: number): Uint8Array {
    const until = Math.min(untilSample, this.#end);
    const bytes = new Uint8Array(Math.max(0, until - this.#next) * 2);
    const view = new DataView(bytes.buffer);
    for (let at = 0; this.#next < until; at += 2) {
      view.setInt16(at, this.#ring[this.#next % this.#ring.length]!, true);
      this.#next += 1;
    }
    return bytes;
  }

  /** Everything before this sample is in a final and need never be sent again. */
  settle(beforeSample: number): void {
    this.#start = Math.max(this.#start, Math.min(beforeSample, this.#next));
  }

  /** The session died: what is not in a final must be sent again. */
  rewind(): void {
    this.#next = this.#start;
  }
}
