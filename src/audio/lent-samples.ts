import { decodeAudioInto, encodeAudioInto } from './codec.ts';
import { bytesPerSample, type Encoding } from './format.ts';

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
