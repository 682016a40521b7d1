import { bytesPerSample, type WireEncoding } from './format.ts';
import { decodeAlawInto, decodeMulawInto, encodeAlawInto, encodeMulawInto } from './g711.ts';

/** Every machine Node runs on is little-endian; kept as a fact to check, so that a surprise is slow instead of noise. */
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * Decodes wire audio into new samples.
 * @param bytes any length and any alignment; half a sample at the end of linear PCM is dropped
 */
export function decodeAudio(encoding: WireEncoding, bytes: Uint8Array): Int16Array {
  const pcm = new Int16Array(Math.floor(bytes.length / bytesPerSample(encoding)));
  decodeAudioInto(encoding, bytes, pcm);
  return pcm;
}

/**
 * The same into memory that is used again.
 * @param target at least as long as there are samples
 * @returns how many samples there are
 * @throws RangeError when `target` is too short
 */
export function decodeAudioInto(encoding: WireEncoding, bytes: Uint8Array, target: Int16Array): number {
  switch (encoding) {
    case 'mulaw':
      return decodeMulawInto(bytes, target);
    case 'alaw':
      return decodeAlawInto(bytes, target);
    case 'pcm16':
      return decodePcmInto(bytes, target, LITTLE_ENDIAN);
    case 'pcm16be':
      return decodePcmInto(bytes, target, !LITTLE_ENDIAN);
  }
}

/** Encodes samples into new bytes for the wire: one a sample, or two for linear PCM. */
export function encodeAudio(encoding: WireEncoding, pcm: Int16Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pcm.length * bytesPerSample(encoding));
  encodeAudioInto(encoding, pcm, bytes);
  return bytes;
}

/**
 * The same into memory that is used again.
 * @param target at least as long as the encoded samples
 * @returns how many bytes there are
 * @throws RangeError when `target` is too short
 */
export function encodeAudioInto(encoding: WireEncoding, pcm: Int16Array, target: Uint8Array): number {
  switch (encoding) {
    case 'mulaw':
      return encodeMulawInto(pcm, target);
    case 'alaw':
      return encodeAlawInto(pcm, target);
    case 'pcm16':
      return encodePcmInto(pcm, target, LITTLE_ENDIAN);
    case 'pcm16be':
      return encodePcmInto(pcm, target, !LITTLE_ENDIAN);
  }
}

/** A view over socket bytes may start at an odd offset, where no Int16Array can: so the bytes are copied. */
function decodePcmInto(bytes: Uint8Array, target: Int16Array, asStored: boolean): number {
  const count = bytes.length >> 1;
  if (target.length < count) throw new RangeError(`target holds ${target.length} samples, ${count} are needed`);
  const stored = new Uint8Array(target.buffer, target.byteOffset, count * 2);
  if (asStored) stored.set(count * 2 === bytes.length ? bytes : bytes.subarray(0, count * 2));
  else swapInto(bytes, stored);
  return count;
}

function encodePcmInto(pcm: Int16Array, target: Uint8Array, asStored: boolean): number {
  const stored = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  if (target.length < stored.length) throw new RangeError(`target holds ${target.length} bytes, ${stored.length} are needed`);
  if (asStored) target.set(stored);
  else swapInto(stored, target.subarray(0, stored.length));
  return stored.length;
}

/** Copies 16-bit words with their bytes exchanged. @param target whole words, of which `bytes` has as many at least */
function swapInto(bytes: Uint8Array, target: Uint8Array): void {
  for (let at = 0; at < target.length; at += 2) {
    target[at] = bytes[at + 1]!;
    target[at + 1] = bytes[at]!;
  }
}

/** The samples as little-endian bytes: a view of them where the machine allows it, so only for samples that are given away. */
export function pcm16Bytes(pcm: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return LITTLE_ENDIAN ? new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength) : encodeAudio('pcm16', pcm);
}

/** Decodes one message at a time into memory that is reused while messages have one length, as nearly all do. */
export class LentSamples {
  #samples = new Int16Array(0);

  /** @returns samples of wire audio, valid until the next call */
  decode(encoding: WireEncoding, payload: Uint8Array): Int16Array {
    const count = Math.floor(payload.length / bytesPerSample(encoding));
    if (this.#samples.length !== count) this.#samples = new Int16Array(count);
    decodeAudioInto(encoding, payload, this.#samples);
    return this.#samples;
  }
}

/** The same for one encoded message at a time. */
export class LentBytes {
  #bytes = new Uint8Array(0);

  /** @returns wire audio, valid until the next call */
  encode(encoding: WireEncoding, pcm: Int16Array): Uint8Array {
    const count = pcm.length * bytesPerSample(encoding);
    if (this.#bytes.length !== count) this.#bytes = new Uint8Array(count);
    encodeAudioInto(encoding, pcm, this.#bytes);
    return this.#bytes;
  }
}
