import { createMp3Encoder } from 'wasm-media-encoders';
import { turnTaken } from '../../turn-taken.ts';

/** Samples given to the encoder at once, which blocks the loop for about 3 ms a second of audio. */
const blockSamples = 24_000;

/** MPEG-2 layer III, mono, as it is made. What it gives, one after another, is the file; it may give nothing at first. */
export class Mp3Stream {
  readonly #encoder: Awaited<ReturnType<typeof createMp3Encoder>>;

  private constructor(encoder: Awaited<ReturnType<typeof createMp3Encoder>>) {
    this.#encoder = encoder;
  }

  static async start(rateHz: 16_000 | 22_050 | 24_000, kbps: 48 | 80 | 128): Promise<Mp3Stream> {
    const encoder = await createMp3Encoder();
    encoder.configure({ sampleRate: rateHz, channels: 1, bitrate: kbps });
    return new Mp3Stream(encoder);
  }

  push(pcm: Int16Array): Uint8Array {
    const block = Float32Array.from(pcm, (sample) => sample / 32_768);
    // The encoder's memory is used again by the next call.
    return this.#encoder.encode([block]).slice();
  }

  end(): Uint8Array {
    return this.#encoder.finalize().slice();
  }
}

/** MPEG-2 layer III, mono. */
export async function encodeMp3(
  pcm: Int16Array,
  rateHz: 16_000 | 22_050 | 24_000,
  kbps: 48 | 80 | 128 = 48,
): Promise<Uint8Array> {
  const stream = await Mp3Stream.start(rateHz, kbps);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += blockSamples) {
    await turnTaken();
    parts.push(stream.push(pcm.subarray(at, at + blockSamples)));
  }
  parts.push(stream.end());
  return Buffer.concat(parts);
}
