import { decodeMulaw, decodeMulawInto, encodeMulawInto } from '../../audio/g711.ts';

/** The sample that each mu-law code stands for. */
const SAMPLES = decodeMulaw(Uint8Array.from({ length: 256 }, (_, code) => code));

/**
 * Samples by their position, as many of the last ones as it has room for. A telephone line's are kept as the mu-law they came
 * as, in half the memory; the first that is no mu-law has all of them kept as they are.
 */
export class SampleRing {
  #codes: Uint8Array | undefined;
  #samples: Int16Array = new Int16Array();
  #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#codes = new Uint8Array(capacity);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** @param pcm no more than there is room for, copied; the first has position `at` */
  put(at: number, pcm: Int16Array): void {
    const place = at % this.#capacity;
    const before = Math.min(pcm.length, this.#capacity - place);
    if (before === pcm.length) this.#set(place, pcm);
    else {
      this.#set(place, pcm.subarray(0, before));
      this.#set(0, pcm.subarray(before));
    }
  }

  /** A copy of this many samples. */
  copy(from: number, count: number): Int16Array<ArrayBuffer> {
    const pcm = new Int16Array(count);
    const place = from % this.#capacity;
    const before = Math.min(count, this.#capacity - place);
    this.#get(place, before, pcm);
    if (before < count) this.#get(0, count - before, pcm.subarray(before));
    return pcm;
  }

  /** Gets room for more or fewer, and keeps these. */
  resize(capacity: number, from: number, count: number): void {
    const kept = this.copy(from, count);
    this.#capacity = capacity;
    if (this.#codes === undefined) this.#samples = new Int16Array(capacity);
    else this.#codes = new Uint8Array(capacity);
    this.put(from, kept);
  }

  #set(place: number, pcm: Int16Array): void {
    if (this.#codes !== undefined && !encoded(pcm, this.#codes.subarray(place, place + pcm.length))) {
      this.#samples = decodeMulaw(this.#codes);
      this.#codes = undefined;
    }
    if (this.#codes === undefined) this.#samples.set(pcm, place);
  }

  #get(place: number, count: number, target: Int16Array): void {
    if (this.#codes === undefined) target.set(this.#samples.subarray(place, place + count));
    else decodeMulawInto(this.#codes.subarray(place, place + count), target);
  }
}

/** @returns whether they can be told from their codes */
function encoded(pcm: Int16Array, codes: Uint8Array): boolean {
  encodeMulawInto(pcm, codes);
  for (let at = 0; at < pcm.length; at += 1) if (SAMPLES[codes[at]!] !== pcm[at]) return false;
  return true;
}
