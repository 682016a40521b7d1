import { readMulawCodes, MULAW_SILENCE, writeMulawCodes } from './g711.ts';

/** Joins arrays of samples into a new one. */
export function joinSamples(parts: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Samples from -1 to 1, as speech models take them. */
export function floatSamples(pcm: Int16Array): Float32Array<ArrayBuffer> {
  // A loop: it runs for each frame of each call, and takes a small part of the time of a mapping.
  const samples = new Float32Array(pcm.length);
  for (let index = 0; index < pcm.length; index += 1) samples[index] = (pcm[index] ?? 0) / 32_768;
  return samples;
}

/** Averages channels into 16-bit samples. @param fullScale 16-bit value of the input's 1.0: 32,767 for floats, 1 for 16-bit input */
export function mixDown(channels: readonly (Float32Array | Int16Array)[], samples: number, fullScale = 32_767): Int16Array {
  const pcm = new Int16Array(samples);
  const scale = fullScale / Math.max(1, channels.length);
  for (let index = 0; index < samples; index += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[index] ?? 0;
    pcm[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum * scale)));
  }
  return pcm;
}

/** Averages interleaved 16-bit channels. @returns the same array for one channel */
export function mixDownInterleaved(interleaved: Int16Array, channels: number): Int16Array {
  if (channels === 1) return interleaved;
  const mono = new Int16Array(Math.floor(interleaved.length / channels));
  for (let frame = 0; frame < mono.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += interleaved[frame * channels + channel] ?? 0;
    mono[frame] = Math.round(sum / channels);
  }
  return mono;
}

/**
 * Cuts audio into whole frames; keeps the tail for the next call.
 * @param pending bytes left over from the last call, fewer than `frameBytes`
 * @param chunk bytes just received, any length
 * @returns frames of exactly `frameBytes`, oldest first, in memory of their own, and the new tail
 */
export function cutFrames(
  pending: Uint8Array,
  chunk: Uint8Array,
  frameBytes: number,
): { frames: Uint8Array[]; pending: Uint8Array } {
  if (frameBytes < 1) throw new RangeError(`a frame has at least one byte, not ${frameBytes}`);
  const joined = new Uint8Array(pending.length + chunk.length);
  joined.set(pending);
  joined.set(chunk, pending.length);
  const whole = joined.length - (joined.length % frameBytes);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < whole; at += frameBytes) frames.push(joined.subarray(at, at + frameBytes));
  return { frames, pending: joined.slice(whole) };
}

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
