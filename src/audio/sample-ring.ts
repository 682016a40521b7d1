import { decodeMulaw } from './g711.ts';

/** The sample that each mu-law code stands for. */
const SAMPLES = decodeMulaw(Uint8Array.from({ length: 256 }, (_, code) => code));
/**
 * The code of each sample that has one, by the upper 14 of its bits, which tell those apart; a sample has that code if it is the
 * one that the code stands for. Small enough to stay where the processor is quick to read.
 */
const CODES = new Uint8Array(16_384);
for (const [code, sample] of SAMPLES.entries()) CODES[(sample & 0xffff) >> 2] = code;
const SILENCE = CODES[0]!;

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
    this.#set(place, before === pcm.length ? pcm : pcm.subarray(0, before));
    if (before < pcm.length) this.#set(0, pcm.subarray(before));
  }

  /** A copy of this many samples. */
  copy(from: number, count: number): Int16Array<ArrayBuffer> {
    const pcm = samplesFor(count);
    this.read(from, pcm);
    return pcm;
  }

  /** Copies samples from this position on into all of `target`. */
  read(from: number, target: Int16Array): void {
    const count = target.length;
    const place = from % this.#capacity;
    const before = Math.min(count, this.#capacity - place);
    this.#get(place, before, target);
    if (before < count) this.#get(0, count - before, target.subarray(before));
  }

  /** Has these samples be silent, no more than there is room for. */
  silence(from: number, count: number): void {
    const place = from % this.#capacity;
    const before = Math.min(count, this.#capacity - place);
    this.#fill(place, before);
    this.#fill(0, count - before);
  }

  /** Gets room for more or fewer, and keeps these. */
  resize(capacity: number, from: number, count: number): void {
    if (this.#codes === undefined) this.#samples = moved(this.#samples, new Int16Array(capacity), from, count);
    else this.#codes = moved(this.#codes, new Uint8Array(capacity), from, count);
    this.#capacity = capacity;
  }

  #set(place: number, pcm: Int16Array): void {
    const codes = this.#codes;
    if (codes !== undefined) {
      let at = 0;
      for (; at < pcm.length; at += 1) {
        const sample = pcm[at]!;
        const code = CODES[(sample & 0xffff) >> 2]!;
        if (SAMPLES[code] !== sample) break;
        codes[place + at] = code;
      }
      if (at === pcm.length) return;
      this.#samples = Int16Array.from(codes, (code) => SAMPLES[code]!);
      this.#codes = undefined;
    }
    this.#samples.set(pcm, place);
  }

  #fill(place: number, count: number): void {
    if (this.#codes === undefined) this.#samples.fill(0, place, place + count);
    else this.#codes.fill(SILENCE, place, place + count);
  }

  #get(place: number, count: number, target: Int16Array): void {
    const codes = this.#codes;
    if (codes === undefined) target.set(this.#samples.subarray(place, place + count));
    else for (let at = 0; at < count; at += 1) target[at] = SAMPLES[codes[place + at]!]!;
  }
}

/** Copies these positions from one ring into another, as they are. */
function moved<Ring extends Uint8Array | Int16Array>(before: Ring, after: Ring, from: number, count: number): Ring {
  for (let at = from; at < from + count;) {
    const [place, target] = [at % before.length, at % after.length];
    const length = Math.min(from + count - at, before.length - place, after.length - target);
    after.set(before.subarray(place, place + length), target);
    at += length;
  }
  return after;
}

/** Room for so many samples, out of Node's pool where they are few: a message to the recogniser has no memory of its own. */
function samplesFor(count: number): Int16Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafe(2 * count);
  return new Int16Array(buffer, byteOffset, count);
}
