import { FLAC_BLOCK, FlacEncoder } from '../../../audio/flac/flac-encoder.ts';
import { turnTaken } from '../../turn-taken.ts';

/** Blocks encoded before others have a turn: some milliseconds. */
const BLOCKS_AT_ONCE = 8;

/** A whole FLAC file, mono, 16 bits. */
export async function encodeFlac(pcm: Int16Array, rateHz: number): Promise<Uint8Array> {
  const encoder = new FlacEncoder(rateHz, 1);
  const frames: Uint8Array[] = [];
  for (let at = 0, index = 0; at < pcm.length; at += FLAC_BLOCK, index += 1) {
    if (index % BLOCKS_AT_ONCE === 0) await turnTaken();
    frames.push(Uint8Array.from(encoder.frame(pcm.subarray(at, at + FLAC_BLOCK))));
  }
  return Buffer.concat([encoder.head(), ...frames]);
}
