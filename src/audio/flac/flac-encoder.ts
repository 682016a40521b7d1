import { createHash } from 'node:crypto';
import { BitWriter, mostSubframeBits, writeSubframe } from './subframe.ts';

/** Samples of each channel in a block; the last block of a stream may be shorter. */
export const FLAC_BLOCK = 4096;
/** `fLaC` and the one metadata block (RFC 9639, sections 6 to 8.2). */
export const FLAC_HEAD_BYTES = 42;
/** `fLaC`, then the only metadata block: type 0, 34 bytes, `FLAC_BLOCK` as the smallest and largest block size. */
export const FLAC_START = Buffer.from('664c61438000002210001000', 'hex');
const MOST_HEADER_BYTES = 16;
/** Rates with a code in the frame header (RFC 9639, section 9.1.2). Others stand there in Hz (16 bits), or in the file's head alone. */
const RATE_CODES: Readonly<Record<number, number>> = {
  8000: 4,
  16_000: 5,
  22_050: 6,
  24_000: 7,
  32_000: 8,
  44_100: 9,
  48_000: 10,
};
const RATE_IN_HZ = 13;
const MOST_RATE_IN_HZ = 65_535;

/**
 * Encodes 16-bit audio as FLAC frames, block by block. Channels are coded independently, since two speakers on two channels have
 * nothing in common. The head holds totals, so it is written last, over `FLAC_HEAD_BYTES` left free before the first frame.
 */
export class FlacEncoder {
  readonly #rateHz: number;
  readonly #channels: number;
  readonly #writer: BitWriter;
  readonly #samples = new Int32Array(FLAC_BLOCK);
  readonly #residual = new Int32Array(FLAC_BLOCK);
  readonly #md5 = createHash('md5');
  #frames = 0;
  #total = 0;
  #smallest = 0;
  #largest = 0;

  /** @param channels 1 to 8 */
  constructor(rateHz: number, channels: number) {
    this.#rateHz = rateHz;
    this.#channels = channels;
    this.#writer = new BitWriter(MOST_HEADER_BYTES + Math.ceil((channels * mostSubframeBits(FLAC_BLOCK)) / 8) + 2);
  }

  /**
   * @param interleaved `FLAC_BLOCK` samples of each channel; 1 or more in the last block
   * @returns one frame, a view that is valid until the next one
   */
  frame(interleaved: Int16Array): Uint8Array<ArrayBuffer> {
    const length = interleaved.length / this.#channels;
    const writer = this.#writer;
    writer.clear();
    writeHeader(writer, { length, number: this.#frames, rateHz: this.#rateHz, channels: this.#channels });
    const samples = this.#samples.subarray(0, length);
    for (let channel = 0; channel < this.#channels; channel += 1) {
      for (let at = 0; at < length; at += 1) samples[at] = interleaved[at * this.#channels + channel] ?? 0;
      // Some readers skip a last frame of fewer than 16 bytes; a constant subframe of a single channel could be that small.
      writeSubframe(writer, samples, this.#residual, this.#channels > 1);
    }
    writer.align();
    writer.write(crc16(writer.written), 16);
    const frame = writer.written;
    this.#md5.update(littleEndian(interleaved));
    this.#frames += 1;
    this.#total += length;
    this.#smallest = this.#frames === 1 ? frame.length : Math.min(this.#smallest, frame.length);
    this.#largest = Math.max(this.#largest, frame.length);
    return frame;
  }

  /** The file's head, for all frames so far. No frame may follow. */
  head(): Uint8Array<ArrayBuffer> {
    const writer = new BitWriter(FLAC_HEAD_BYTES);
    for (const byte of FLAC_START) writer.write(byte, 8);
    writer.write(this.#smallest, 24);
    writer.write(this.#largest, 24);
    writer.write(this.#rateHz, 20);
    writer.write(this.#channels - 1, 3);
    writer.write(15, 5);
    writer.write(Math.floor(this.#total / 2 ** 32), 4);
    writer.write(this.#total % 2 ** 32, 32);
    for (const byte of this.#md5.digest()) writer.write(byte, 8);
    return writer.written;
  }
}

interface FrameHeader {
  readonly length: number;
  readonly number: number;
  readonly rateHz: number;
  readonly channels: number;
}

/** RFC 9639, section 9.1: blocks of one length, 16 bits a sample. */
function writeHeader(writer: BitWriter, { length, number, rateHz, channels }: FrameHeader): void {
  const isWhole = length === FLAC_BLOCK;
  const rateCode = RATE_CODES[rateHz] ?? (rateHz <= MOST_RATE_IN_HZ ? RATE_IN_HZ : 0);
  writer.write(0xfff8, 16);
  writer.write(isWhole ? 12 : 7, 4);
  writer.write(rateCode, 4);
  writer.write(channels - 1, 4);
  writer.write(4, 3);
  writer.write(0, 1);
  for (const byte of Buffer.from(codedNumber(number))) writer.write(byte, 8);
  if (!isWhole) writer.write(length - 1, 16);
  if (rateCode === RATE_IN_HZ) writer.write(rateHz, 16);
  writer.write(crc8(writer.written), 8);
}

/** Codes a number as UTF-8 codes a character, in up to six bytes (RFC 9639, section 9.1.5). */
function codedNumber(number: number): number[] {
  if (number < 0x80) return [number];
  const tail: number[] = [];
  let rest = number;
  let room = 0x40;
  while (rest >= room) {
    tail.unshift(0x80 | (rest & 0x3f));
    rest >>>= 6;
    room >>= 1;
  }
  // The first byte starts with a one for each byte of the code.
  return [(0x100 - room * 2) | rest, ...tail];
}

function littleEndian(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Checksum of a frame's header (RFC 9639, section 9.1.8). */
function crc8(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = CRC8[sum ^ byte] ?? 0;
  return sum;
}

/** Checksum of a whole frame (RFC 9639, section 9.3). */
function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = ((sum << 8) & 0xffff) ^ (CRC16[(sum >> 8) ^ byte] ?? 0);
  return sum;
}

const CRC8 = tableOf(8, 0x07);
const CRC16 = tableOf(16, 0x8005);

function tableOf(bits: number, polynomial: number): Uint16Array {
  const top = 1 << (bits - 1);
  return Uint16Array.from({ length: 256 }, (_, index) => {
    let value = index << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) value = (value & top) === 0 ? value << 1 : (value << 1) ^ polynomial;
    return value & ((1 << bits) - 1);
  });
}
