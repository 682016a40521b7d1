import { decodeAudio, encodeAudio } from '../../audio/codec.ts';
import type { Encoding } from '../../audio/format.ts';

const FADE_IN_SAMPLES = 80;

/** The same audio, its first 10 ms (at 8 kHz) rising from silence. */
export function fadedIn(encoding: Encoding, audio: Uint8Array): Uint8Array {
  const pcm = decodeAudio(encoding, audio);
  const fade = Math.min(FADE_IN_SAMPLES, pcm.length);
  for (let index = 0; index < fade; index += 1) pcm[index] = ((pcm[index] ?? 0) * index) / fade;
  return encodeAudio(encoding, pcm);
}

/** The same audio, falling to silence over its whole length. */
export function fadedOut(encoding: Encoding, audio: Uint8Array): Uint8Array {
  const pcm = decodeAudio(encoding, audio);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = (pcm[index] ?? 0) * (1 - (index + 1) / pcm.length);
  return encodeAudio(encoding, pcm);
}
