import { readMulawCodes, MULAW_SILENCE, writeMulawCodes } from './g711.ts';

/**
 * A ring buffer of samples, addressed by their position in the stream. Samples that are exact mu-law values, as those of a telephone
 * line, are stored as mu-law in half the memory; the first other sample switches the whole buffer to 16 bits.
 */
export class SampleRing {
  readonly #capacity: number;
  #codes: Uint8Array | undefined;
  #samples: Int16Array = new Int16Array();

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#codes = new Uint8Array(capacity);
  }

  /** Copies samples in. @param at position of the first. @param pcm at most `capacity` samples */
  put(at: number, pcm: Int16Array): void {
    const place = at % this.#capacity;
    const before = Math.min(pcm.length, this.#capacity - place);
    this.#set(place, before === pcm.length ? pcm : pcm.subarray(0, before));
    if (before < pcm.length) this.#set(0, pcm.subarray(before));
  }

  /** Fills `target` with the samples from this position on. */
  read(from: number, target: Int16Array): void {
    const count = target.length;
    const place = from % this.#capacity;
    const before = Math.min(count, this.#capacity - place);
    this.#get(place, before, target);
    if (before < count) this.#get(0, count - before, target.subarray(before));
  }

  /** Overwrites at most `capacity` samples with silence. */
  silence(from: number, count: number): void {
    const place = from % this.#capacity;
    const before = Math.min(count, this.#capacity - place);
    this.#fill(place, before);
    this.#fill(0, count - before);
  }

  #set(place: number, pcm: Int16Array): void {
    const codes = this.#codes;
    if (codes !== undefined) {
      if (writeMulawCodes(pcm, codes, place) === pcm.length) return;
      this.#samples = new Int16Array(this.#capacity);
      readMulawCodes(codes, 0, codes.length, this.#samples);
      this.#codes = undefined;
    }
    this.#samples.set(pcm, place);
  }

  #fill(place: number, count: number): void {
    if (this.#codes === undefined) this.#samples.fill(0, place, place + count);
    else this.#codes.fill(MULAW_SILENCE, place, place + count);
  }

  #get(place: number, count: number, target: Int16Array): void {
    if (this.#codes === undefined) target.set(this.#samples.subarray(place, place + count));
    else readMulawCodes(this.#codes, place, count, target);
  }
}
