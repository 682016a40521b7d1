import { createMp3Encoder } from 'wasm-media-encoders';
import { turnTaken } from '../../turn-taken.ts';

/** Samples given to the encoder at once, which blocks the loop for about 3 ms a second of audio. */
const blockSamples = 24_000;

/** MPEG-2 layer III, mono. */
export async function encodeMp3(
  pcm: Int16Array,
  rateHz: 16_000 | 22_050 | 24_000,
  kbps: 48 | 80 | 128 = 48,
): Promise<Uint8Array> {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: rateHz, channels: 1, bitrate: kbps });
  const parts: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += blockSamples) {
    await turnTaken();
    const block = Float32Array.from(pcm.subarray(at, at + blockSamples), (sample) => sample / 32_768);
    // The encoder's memory is used again by the next call.
    parts.push(encoder.encode([block]).slice());
  }
  parts.push(encoder.finalize().slice());
  return Buffer.concat(parts);
}
