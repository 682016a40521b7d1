import { createHash } from 'node:crypto';
import { encodeAudio } from '../../../audio/codec.ts';
import { turnTaken } from '../../turn-taken.ts';
import { BitWriter } from './bit-writer.ts';

const BLOCK = 4096;
/** A block's residual is cut in 2⁴ parts, each with the Rice parameter that suits it. */
const PARTITION_ORDER = 4;
/** Blocks encoded before others have a turn: some milliseconds. */
const BLOCKS_AT_ONCE = 8;
/** Codes of the rates in a frame header (FLAC format, RFC 9639, 9.1.2). */
const rateCodes: Readonly<Record<number, number>> = { 8000: 4, 16_000: 5, 22_050: 6, 24_000: 7 };
const MAX_RICE = 14;

/**
 * Lossless FLAC (RFC 9639), mono, 16 bits: fixed predictors of order 0 to 4 and Rice codes.
 * @throws RangeError for a rate that is not 8,000, 16,000, 22,050 or 24,000
 */
export async function encodeFlac(pcm: Int16Array, rateHz: number): Promise<Uint8Array> {
  const rateCode = rateCodes[rateHz];
  if (rateCode === undefined) throw new RangeError(`no FLAC at ${rateHz} Hz here`);
  const parts: Uint8Array[] = [Buffer.from('fLaC', 'latin1'), streamInfo(pcm, rateHz)];
  for (let at = 0, index = 0; at < pcm.length; at += BLOCK, index += 1) {
    if (index % BLOCKS_AT_ONCE === 0) await turnTaken();
    parts.push(frame(pcm.subarray(at, at + BLOCK), index, rateCode));
  }
  return Buffer.concat(parts);
}

/** The one metadata block, marked as the last. */
function streamInfo(pcm: Int16Array, rateHz: number): Uint8Array {
  const bits = new BitWriter();
  bits.write(0x80, 8);
  bits.write(34, 24);
  bits.write(BLOCK, 16);
  bits.write(BLOCK, 16);
  // Smallest and largest frame: not known.
  bits.write(0, 24);
  bits.write(0, 24);
  bits.write(rateHz, 20);
  bits.write(0, 3);
  bits.write(15, 5);
  bits.write(Math.floor(pcm.length / 2 ** 24), 12);
  bits.write(pcm.length % 2 ** 24, 24);
  for (const byte of createHash('md5').update(encodeAudio('pcm16', pcm)).digest()) bits.write(byte, 8);
  return bits.align();
}

function frame(samples: Int16Array, index: number, rateCode: number): Uint8Array {
  const bits = new BitWriter();
  const whole = samples.length === BLOCK;
  bits.write(0xfff8, 16);
  bits.write(whole ? 12 : 7, 4);
  bits.write(rateCode, 4);
  // One channel, 16 bits a sample.
  bits.write(0x08, 8);
  for (const byte of codedNumber(index)) bits.write(byte, 8);
  if (!whole) bits.write(samples.length - 1, 16);
  bits.write(crc(bits.align(), 8, 0x07), 8);
  writeSubframe(bits, samples, whole ? PARTITION_ORDER : 0);
  bits.write(crc(bits.align(), 16, 0x8005), 16);
  return bits.align().slice();
}

function writeSubframe(bits: BitWriter, samples: Int16Array, partitionOrder: number): void {
  const { order, residual } = bestPrediction(samples);
  bits.write(0x10 | (order << 1), 8);
  for (const sample of samples.subarray(0, order)) bits.write(sample, 16);
  bits.write(0, 2);
  bits.write(partitionOrder, 4);
  const size = samples.length >> partitionOrder;
  for (let part = 0; part < 1 << partitionOrder; part += 1) {
    // The first part lacks the samples that stand as they are.
    writeRice(bits, residual.subarray(Math.max(0, part * size - order), (part + 1) * size - order));
  }
}

/** The fixed predictor whose errors are smallest: each order is the difference of the one before. */
function bestPrediction(samples: Int16Array): { order: number; residual: Int32Array } {
  let residual = Int32Array.from(samples);
  let best = { order: 0, residual };
  let least = magnitude(residual);
  for (let order = 1; order <= 4 && residual.length > 1; order += 1) {
    const before = residual;
    residual = Int32Array.from({ length: before.length - 1 }, (_, at) => before[at + 1]! - before[at]!);
    const sum = magnitude(residual);
    if (sum < least) {
      least = sum;
      best = { order, residual };
    }
  }
  return best;
}

function magnitude(values: Int32Array): number {
  let sum = 0;
  for (const value of values) sum += Math.abs(value);
  return sum;
}

function writeRice(bits: BitWriter, values: Int32Array): void {
  const mean = values.length === 0 ? 0 : magnitude(values) / values.length;
  const parameter = Math.max(0, Math.min(MAX_RICE, Math.round(Math.log2(mean + 0.5))));
  bits.write(parameter, 4);
  for (const value of values) {
    const folded = value >= 0 ? 2 * value : -2 * value - 1;
    bits.writeUnary(folded >>> parameter);
    bits.write(folded, parameter);
  }
}

/** A number as UTF-8 codes a code point, here up to 21 bits. */
function codedNumber(value: number): Uint8Array {
  return Buffer.from(codedText(value), 'latin1');
}

function codedText(value: number): string {
  if (value < 0x80) return String.fromCharCode(value);
  const tail = (shift: number): number => 0x80 | ((value >> shift) & 0x3f);
  if (value < 0x800) return String.fromCharCode(0xc0 | (value >> 6), tail(0));
  if (value < 0x1_0000) return String.fromCharCode(0xe0 | (value >> 12), tail(6), tail(0));
  return String.fromCharCode(0xf0 | (value >> 18), tail(12), tail(6), tail(0));
}

/** Highest bit first, from 0. */
function crc(bytes: Uint8Array, width: 8 | 16, polynomial: number): number {
  const top = 1 << (width - 1);
  const mask = 2 ** width - 1;
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & top ? (sum << 1) ^ polynomial : sum << 1) & mask;
  }
  return sum;
}
