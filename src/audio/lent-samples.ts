import { decodeAudioInto } from './codec.ts';
import { bytesPerSample, type Encoding } from './format.ts';

/** Memory for one decoded message at a time: used again for every one of the same length, as nearly all are. */
export class LentSamples {
  #samples = new Int16Array(0);

  /** @returns 8 kHz samples of wire audio, valid until the next call: whoever keeps of them copies */
  decode(encoding: Encoding, payload: Uint8Array): Int16Array {
    const count = Math.floor(payload.length / bytesPerSample(encoding));
    if (this.#samples.length !== count) this.#samples = new Int16Array(count);
    decodeAudioInto(encoding, payload, this.#samples);
    return this.#samples;
  }
}
