import { bytesPerSample, type Encoding } from './format.ts';
import {
  decodeAlaw,
  decodeAlawInto,
  decodeMulaw,
  decodeMulawInto,
  encodeAlaw,
  encodeAlawInto,
  encodeMulaw,
  encodeMulawInto,
} from './g711.ts';

/** Every machine Node runs on is little-endian; kept as a fact to check, so that a surprise is slow instead of noise. */
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * Decodes wire audio into new samples.
 * @param bytes any length and any alignment; for `pcm16` an odd last byte is dropped
 */
export function decodeAudio(encoding: Encoding, bytes: Uint8Array): Int16Array {
  switch (encoding) {
    case 'mulaw':
      return decodeMulaw(bytes);
    case 'alaw':
      return decodeAlaw(bytes);
    case 'pcm16':
      return decodePcm16(bytes);
  }
}

/**
 * The same into memory that is used again.
 * @param target at least as long as there are samples
 * @returns how many samples there are
 */
export function decodeAudioInto(encoding: Encoding, bytes: Uint8Array, target: Int16Array): number {
  switch (encoding) {
    case 'mulaw':
      return decodeMulawInto(bytes, target);
    case 'alaw':
      return decodeAlawInto(bytes, target);
    case 'pcm16': {
      const pcm = decodePcm16(bytes);
      target.set(pcm);
      return pcm.length;
    }
  }
}

/** Encodes samples into new bytes for the wire: one a sample, or two (little-endian) for `pcm16`. */
export function encodeAudio(encoding: Encoding, pcm: Int16Array): Uint8Array {
  switch (encoding) {
    case 'mulaw':
      return encodeMulaw(pcm);
    case 'alaw':
      return encodeAlaw(pcm);
    case 'pcm16':
      return encodePcm16(pcm);
  }
}

/**
 * The same into memory that is used again.
 * @param target at least as long as the encoded samples
 * @returns how many bytes there are
 */
export function encodeAudioInto(encoding: Encoding, pcm: Int16Array, target: Uint8Array): number {
  switch (encoding) {
    case 'mulaw':
      return encodeMulawInto(pcm, target);
    case 'alaw':
      return encodeAlawInto(pcm, target);
    case 'pcm16':
      target.set(encodePcm16(pcm));
      return pcm.length * 2;
  }
}

/** A view over socket bytes may start at an odd offset, where no Int16Array can: so the bytes are copied. */
function decodePcm16(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length >> 1);
  if (LITTLE_ENDIAN) {
    new Uint8Array(samples.buffer).set(bytes.subarray(0, samples.length * 2));
    return samples;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(i * 2, true);
  return samples;
}

/** The samples as little-endian bytes: a view of them where the machine allows it, so only for samples that are given away. */
export function pcm16Bytes(pcm: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return LITTLE_ENDIAN ? new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength) : encodePcm16(pcm);
}

function encodePcm16(pcm: Int16Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pcm.length * 2);
  if (LITTLE_ENDIAN) {
    bytes.set(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < pcm.length; i++) view.setInt16(i * 2, pcm[i]!, true);
  return bytes;
}

/** Decodes one message at a time into memory that is reused while messages have one length, as nearly all do. */
export class LentSamples {
  #samples = new Int16Array(0);

  /** @returns samples of wire audio, valid until the next call */
  decode(encoding: Encoding, payload: Uint8Array): Int16Array {
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
  encode(encoding: Encoding, pcm: Int16Array): Uint8Array {
    const count = pcm.length * bytesPerSample(encoding);
    if (this.#bytes.length !== count) this.#bytes = new Uint8Array(count);
    encodeAudioInto(encoding, pcm, this.#bytes);
    return this.#bytes;
  }
}
