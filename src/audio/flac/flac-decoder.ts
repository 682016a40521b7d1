import { CompressedAudioError } from '../compressed-audio-error.ts';
import { BitReader } from './bit-reader.ts';
import { crc16 } from './checksums.ts';
import { FLAC_BLOCK, FLAC_HEAD_BYTES } from './flac-encoder.ts';

/** What a file says of itself. */
export interface FlacHead {
  readonly rateHz: number;
  readonly channels: number;
  /** Of each channel. */
  readonly samples: number;
  readonly largestFrameBytes: number;
  /** Of all samples, interleaved, as 16-bit little-endian bytes. */
  readonly md5: Uint8Array;
}

/** No frame of ours is larger. */
const MOST_FRAME_BYTES = 262_144;

/**
 * Reads the head of a file that `FlacEncoder` wrote: one metadata block, 16 bits, blocks of one length.
 * @throws CompressedAudioError for any other file
 */
export function readFlacHead(bytes: Uint8Array): FlacHead {
  const head = Buffer.from(bytes.subarray(0, FLAC_HEAD_BYTES));
  const isOurs =
    head.length === FLAC_HEAD_BYTES &&
    head.toString('latin1', 0, 4) === 'fLaC' &&
    head.readUInt32BE(4) === 0x8000_0022 &&
    head.readUInt16BE(8) === FLAC_BLOCK &&
    head.readUInt16BE(10) === FLAC_BLOCK;
  if (!isOurs) throw new CompressedAudioError('not a FLAC file of the kind that is written here');
  const facts = new BitReader(head.subarray(15, 26));
  const largestFrameBytes = facts.read(24);
  const rateHz = facts.read(20);
  const channels = facts.read(3) + 1;
  const bits = facts.read(5) + 1;
  const samples = facts.read(18) * 2 ** 18 + facts.read(18);
  if (bits !== 16 || largestFrameBytes > MOST_FRAME_BYTES || rateHz === 0)
    throw new CompressedAudioError('not a FLAC file of the kind that is written here');
  return { rateHz, channels, samples, largestFrameBytes, md5: Uint8Array.from(head.subarray(26)) };
}

/**
 * Reads one frame and holds it against its checksum.
 * @param bytes from the frame's first on, and all of it
 * @returns its samples interleaved, and its length in bytes
 * @throws CompressedAudioError
 */
export function readFlacFrame(bytes: Uint8Array, { channels }: FlacHead): { samples: Int16Array; bytes: number } {
  try {
    const reader = new BitReader(bytes);
    const length = readHeader(reader, channels);
    const interleaved = new Int16Array(length * channels);
    const samples = new Int32Array(length);
    for (let channel = 0; channel < channels; channel += 1) {
      readSubframe(reader, samples);
      for (let at = 0; at < length; at += 1) interleaved[at * channels + channel] = samples[at]!;
    }
    const end = reader.align();
    if (reader.read(16) !== crc16(bytes.subarray(0, end))) throw damaged();
    return { samples: interleaved, bytes: end + 2 };
  } catch (error) {
    if (error instanceof RangeError) throw damaged(error);
    throw error;
  }
}

/** @returns the samples of each channel */
function readHeader(reader: BitReader, channels: number): number {
  if (reader.read(16) !== 0xfff8) throw damaged();
  const size = reader.read(4);
  reader.read(4);
  if (reader.read(4) !== channels - 1 || reader.read(4) !== 8) throw damaged();
  // The number of the frame: its first byte has a one for each byte, a single one aside.
  const more = Math.clz32(~(reader.read(8) << 24));
  for (let byte = 1; byte < more; byte += 1) reader.read(8);
  const length = size === 12 ? FLAC_BLOCK : size === 7 ? reader.read(16) + 1 : 0;
  reader.read(8);
  if (length === 0 || length > FLAC_BLOCK) throw damaged();
  return length;
}

/** RFC 9639, section 9.2: one value, as it stands, or fixed prediction. */
function readSubframe(reader: BitReader, samples: Int32Array): void {
  const type = reader.read(7);
  const wasted = reader.read(1) === 0 ? 0 : reader.unary() + 1;
  const bits = 16 - wasted;
  if (bits < 1) throw damaged();
  if (type === 0) samples.fill(reader.readSigned(bits));
  else if (type === 1) for (let at = 0; at < samples.length; at += 1) samples[at] = reader.readSigned(bits);
  else if (type >= 8 && type <= 12) readFixed(reader, samples, type - 8, bits);
  else throw damaged();
  if (wasted > 0) for (let at = 0; at < samples.length; at += 1) samples[at] = samples[at]! << wasted;
}

function readFixed(reader: BitReader, samples: Int32Array, order: number, bits: number): void {
  for (let at = 0; at < order; at += 1) samples[at] = reader.readSigned(bits);
  if (reader.read(2) !== 0) throw damaged();
  const partitionOrder = reader.read(4);
  const size = samples.length >> partitionOrder;
  if (size << partitionOrder !== samples.length || size < order) throw damaged();
  for (let at = order, end = size; end <= samples.length; end += size) {
    const parameter = reader.read(4);
    if (parameter === 15) throw damaged();
    for (; at < end; at += 1) {
      const value = (reader.unary() << parameter) | reader.read(parameter);
      samples[at] = (value >>> 1) ^ -(value & 1);
    }
  }
  // The first ones stand as they are: they are differences of as high an order as they reach back.
  for (let pass = 1; pass < order; pass += 1)
    for (let at = order - 1; at >= pass; at -= 1) samples[at] = samples[at]! - samples[at - 1]!;
  for (let pass = order; pass >= 1; pass -= 1) {
    for (let at = pass; at < samples.length; at += 1) samples[at] = samples[at]! + samples[at - 1]!;
  }
}

function damaged(cause?: unknown): CompressedAudioError {
  return new CompressedAudioError('the FLAC file is damaged', { cause });
}
