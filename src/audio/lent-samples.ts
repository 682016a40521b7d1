import { decodeAudioInto, encodeAudioInto } from './codec.ts';
import { bytesPerSample, type Encoding } from './format.ts';

/** Memory for one decoded message at a time: used again for every one of the same length, as nearly all are. */
export class LentSamples {
  #samples = new Int16Array(0);

  /** @returns samples of wire audio, valid until the next call: whoever keeps of them copies */
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
