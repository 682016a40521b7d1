import alawmulaw from 'alawmulaw';

/**
 * G.711 by table: one look-up a sample. Decode tables come from `alawmulaw`, whose decoder is exact for all 256 codes of both
 * laws. Its encoder is not: 127 negative decision boundaries of each law land one step too loud, so encode tables are computed
 * here as the reference implementation of ITU-T G.711 (G.191 `ulaw_compress` and `alaw_compress`) does.
 */
const MULAW_DECODE = Int16Array.from({ length: 256 }, (_, code) => alawmulaw.mulaw.decodeSample(code));
const ALAW_DECODE = Int16Array.from({ length: 256 }, (_, code) => alawmulaw.alaw.decodeSample(code));

/** 14-bit magnitude plus bias 33, a segment of three bits and a step of four, all inverted. */
function mulawCode(sample: number): number {
  const magnitude = Math.min(((sample < 0 ? ~sample : sample) >> 2) + 33, 0x1fff);
  let segment = 1;
  for (let rest = magnitude >> 6; rest !== 0; rest >>= 1) segment++;
  const code = ((8 - segment) << 4) | (15 - ((magnitude >> segment) & 15));
  return sample >= 0 ? code | 0x80 : code;
}

/** 12-bit magnitude, the two lowest segments linear, even bits inverted. */
function alawCode(sample: number): number {
  let code = (sample < 0 ? ~sample : sample) >> 4;
  if (code > 15) {
    let exponent = 1;
    while (code > 31) {
      code >>= 1;
      exponent++;
    }
    code = code - 16 + (exponent << 4);
  }
  return (sample >= 0 ? code | 0x80 : code) ^ 0x55;
}

/** Bits at the end of a sample that its code does not depend on: without them the tables stay where the processor is quick to read. */
const MULAW_UNUSED_BITS = 2;
const ALAW_UNUSED_BITS = 4;

/** One entry for each 16-bit input without these bits, indexed by the sample as an unsigned number. */
function encodeTable(encode: (sample: number) => number, unusedBits: number): Uint8Array {
  return Uint8Array.from({ length: 65_536 >> unusedBits }, (_, index) => encode((index << (16 + unusedBits)) >> 16));
}

const MULAW_ENCODE = encodeTable(mulawCode, MULAW_UNUSED_BITS);
const ALAW_ENCODE = encodeTable(alawCode, ALAW_UNUSED_BITS);

function encodeInto(table: Uint8Array, unusedBits: number, pcm: Int16Array, out: Uint8Array): number {
  if (out.length < pcm.length) throw new RangeError(`out holds ${out.length} bytes, ${pcm.length} are needed`);
  for (let i = 0; i < pcm.length; i++) out[i] = table[(pcm[i]! & 0xffff) >> unusedBits]!;
  return pcm.length;
}

function decodeInto(table: Int16Array, bytes: Uint8Array, out: Int16Array): number {
  if (out.length < bytes.length) throw new RangeError(`out holds ${out.length} samples, ${bytes.length} are needed`);
  for (let i = 0; i < bytes.length; i++) out[i] = table[bytes[i]!]!;
  return bytes.length;
}

/**
 * @returns the number of bytes written, one a sample
 * @throws RangeError when `out` is too short
 */
export function encodeMulawInto(pcm: Int16Array, out: Uint8Array): number {
  return encodeInto(MULAW_ENCODE, MULAW_UNUSED_BITS, pcm, out);
}

/** As `encodeMulawInto`, for A-law. */
export function encodeAlawInto(pcm: Int16Array, out: Uint8Array): number {
  return encodeInto(ALAW_ENCODE, ALAW_UNUSED_BITS, pcm, out);
}

/**
 * @returns the number of samples written, one a byte
 * @throws RangeError when `out` is too short
 */
export function decodeMulawInto(bytes: Uint8Array, out: Int16Array): number {
  return decodeInto(MULAW_DECODE, bytes, out);
}

/** As `decodeMulawInto`, for A-law. */
export function decodeAlawInto(bytes: Uint8Array, out: Int16Array): number {
  return decodeInto(ALAW_DECODE, bytes, out);
}

/** A new array, one byte a sample. */
export function encodeMulaw(pcm: Int16Array): Uint8Array {
  const out = new Uint8Array(pcm.length);
  encodeMulawInto(pcm, out);
  return out;
}

/** A new array, one sample a byte. */
export function decodeMulaw(bytes: Uint8Array): Int16Array {
  const out = new Int16Array(bytes.length);
  decodeMulawInto(bytes, out);
  return out;
}

/**
 * The code of each sample that has one, by the upper 14 of its bits, which tell those apart; a sample has that code if it is the
 * one that the code stands for. Small enough to stay where the processor is quick to read.
 */
const MULAW_CODES = new Uint8Array(16_384);
for (const [code, sample] of MULAW_DECODE.entries()) MULAW_CODES[(sample & 0xffff) >> 2] = code;

/** The code of a zero sample. */
export const MULAW_SILENCE = MULAW_CODES[0] ?? 0;

/**
 * Writes the mu-law codes of samples that came out of mu-law, from `place` on.
 * @returns how many there are before the first that is no mu-law
 */
export function writeMulawCodes(pcm: Int16Array, codes: Uint8Array, place: number): number {
  let at = 0;
  for (; at < pcm.length; at += 1) {
    const sample = pcm[at]!;
    const code = MULAW_CODES[(sample & 0xffff) >> 2]!;
    if (MULAW_DECODE[code] !== sample) break;
    codes[place + at] = code;
  }
  return at;
}

/** Writes the samples of `count` codes from `place` on to `target`, from `to` on. */
export function readMulawCodes(codes: Uint8Array, place: number, count: number, target: Int16Array, to = 0): void {
  for (let at = 0; at < count; at += 1) target[to + at] = MULAW_DECODE[codes[place + at]!]!;
}
