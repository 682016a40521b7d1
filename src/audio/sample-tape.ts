import { readMulawCodes, writeMulawCodes } from './g711.ts';

/** Half a second of a telephone line. */
const BLOCK_SAMPLES = 4_000;
/** Free blocks for the next tape, 4 MB at most: reusing them spares the garbage collector. */
const MOST_SPARE = 1_000;
const spare: Uint8Array[] = [];

/**
 * A queue of samples, addressed by their position in the stream: appended at the end, dropped at the start, in blocks that all tapes
 * share. Samples that are exact mu-law values, as those of a telephone line, are stored as mu-law in half the memory, up to the block
 * with the first other sample.
 */
export class SampleTape {
  readonly #blocks: (Uint8Array | Int16Array)[] = [];
  /** Number of the first block that was not dropped. */
  #first = 0;
  #end = 0;
  #isMulaw = true;

  /** One past the last sample. */
  get end(): number {
    return this.#end;
  }

  /** Adds a copy of these samples. */
  append(pcm: Int16Array): void {
    for (let from = 0; from < pcm.length;) {
      const place = this.#end % BLOCK_SAMPLES;
      const count = Math.min(BLOCK_SAMPLES - place, pcm.length - from);
      if (place === 0) this.#blocks.push(this.#newBlock());
      this.#write(count === pcm.length ? pcm : pcm.subarray(from, from + count), place);
      this.#end += count;
      from += count;
    }
  }

  /** A copy of these samples. @throws RangeError when some of them were dropped or not appended yet */
  copy(from: number, count: number): Int16Array<ArrayBuffer> {
    const pcm = samplesFor(count);
    for (let at = 0; at < count;) {
      const place = (from + at) % BLOCK_SAMPLES;
      const length = Math.min(BLOCK_SAMPLES - place, count - at);
      const block = this.#blocks[Math.floor((from + at) / BLOCK_SAMPLES) - this.#first];
      if (block === undefined) throw new RangeError(`the tape has no sample ${from + at}`);
      if (block instanceof Uint8Array) readMulawCodes(block, place, length, pcm, at);
      else pcm.set(block.subarray(place, place + length), at);
      at += length;
    }
    return pcm;
  }

  /** Drops the whole blocks before this position. */
  forgetBefore(position: number): void {
    const first = Math.floor(Math.min(position, this.#end) / BLOCK_SAMPLES);
    if (first <= this.#first) return;
    for (const block of this.#blocks.splice(0, first - this.#first)) giveBack(block);
    this.#first = first;
  }

  /** Drops everything. Nothing may be appended or copied afterwards. */
  close(): void {
    for (const block of this.#blocks.splice(0)) giveBack(block);
  }

  #newBlock(): Uint8Array | Int16Array {
    return this.#isMulaw ? (spare.pop() ?? new Uint8Array(BLOCK_SAMPLES)) : new Int16Array(BLOCK_SAMPLES);
  }

  /** Writes into the last block; `append` made sure that there is one. */
  #write(pcm: Int16Array, place: number): void {
    let block = this.#blocks.at(-1);
    if (block instanceof Uint8Array) {
      if (writeMulawCodes(pcm, block, place) === pcm.length) return;
      const codes = block;
      block = new Int16Array(BLOCK_SAMPLES);
      readMulawCodes(codes, 0, place, block);
      this.#blocks[this.#blocks.length - 1] = block;
      this.#isMulaw = false;
      giveBack(codes);
    }
    block?.set(pcm, place);
  }
}

function giveBack(block: Uint8Array | Int16Array): void {
  if (block instanceof Uint8Array && spare.length < MOST_SPARE) spare.push(block);
}

/** Memory for samples, from Node's pool where they are few: a small message to the recogniser needs no allocation. */
function samplesFor(count: number): Int16Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafe(2 * count);
  return new Int16Array(buffer, byteOffset, count);
}
