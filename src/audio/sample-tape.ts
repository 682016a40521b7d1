import { readCodes, writeCodes } from './mulaw-codes.ts';

/** Half a second of a telephone line. */
const BLOCK_SAMPLES = 4_000;
/** Blocks that no tape has and the next one gets, 4 MB of them at most: what is let go of for good is nobody's to collect. */
const MOST_SPARE = 1_000;
const spare: Uint8Array[] = [];

/**
 * Samples by their position, as long as what is kept of them: added at the end, let go of at the beginning, in blocks that tapes
 * give each other. A telephone line's are kept as the mu-law they came as, in half the memory, up to the block with the
 * first that is no mu-law.
 */
export class SampleTape {
  readonly #blocks: (Uint8Array | Int16Array)[] = [];
  /** Number of the first block that is still here. */
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
      if (place === 0) this.#blocks.push(this.#newBlock());
      const count = Math.min(BLOCK_SAMPLES - place, pcm.length - from);
      this.#write(count === pcm.length ? pcm : pcm.subarray(from, from + count), place);
      this.#end += count;
      from += count;
    }
  }

  /** A copy of this many samples; none of them may have been let go of. */
  copy(from: number, count: number): Int16Array<ArrayBuffer> {
    const pcm = samplesFor(count);
    for (let at = 0; at < count;) {
      const place = (from + at) % BLOCK_SAMPLES;
      const length = Math.min(BLOCK_SAMPLES - place, count - at);
      const block = this.#blocks[Math.floor((from + at) / BLOCK_SAMPLES) - this.#first]!;
      if (block instanceof Uint8Array) readCodes(block, place, length, pcm, at);
      else pcm.set(block.subarray(place, place + length), at);
      at += length;
    }
    return pcm;
  }

  /** Lets go of what is before this position, as far as it fills blocks. */
  forgetBefore(position: number): void {
    for (const first = Math.floor(Math.min(position, this.#end) / BLOCK_SAMPLES); this.#first < first; this.#first += 1)
      giveBack(this.#blocks.shift()!);
  }

  /** Lets go of everything; nothing is added or copied any more. */
  close(): void {
    for (const block of this.#blocks.splice(0)) giveBack(block);
  }

  #newBlock(): Uint8Array | Int16Array {
    return this.#isMulaw ? (spare.pop() ?? new Uint8Array(BLOCK_SAMPLES)) : new Int16Array(BLOCK_SAMPLES);
  }

  /** Into the last block. */
  #write(pcm: Int16Array, place: number): void {
    let block = this.#blocks.at(-1)!;
    if (block instanceof Uint8Array) {
      if (writeCodes(pcm, block, place) === pcm.length) return;
      const codes = block;
      block = new Int16Array(BLOCK_SAMPLES);
      readCodes(codes, 0, place, block);
      this.#blocks[this.#blocks.length - 1] = block;
      this.#isMulaw = false;
      giveBack(codes);
    }
    block.set(pcm, place);
  }
}

function giveBack(block: Uint8Array | Int16Array): void {
  if (block instanceof Uint8Array && spare.length < MOST_SPARE) spare.push(block);
}

/** Room for so many samples, out of Node's pool where they are few: a message to the recogniser has no memory of its own. */
function samplesFor(count: number): Int16Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafe(2 * count);
  return new Int16Array(buffer, byteOffset, count);
}
