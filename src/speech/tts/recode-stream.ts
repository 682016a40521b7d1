import { decodeAudio, encodeAudio } from '../../audio/codec.ts';
import type { AudioFormat } from '../../audio/format.ts';
import { Resampler } from '../../audio/resample.ts';

/**
 * Brings whatever a synthesizer answers to the format that was asked for, chunk by chunk: another rate is resampled and
 * another encoding recoded, never played as noise. An odd byte of PCM waits for its other half.
 */
export class RecodeStream {
  readonly #from: AudioFormat;
  readonly #to: AudioFormat;
  readonly #resampler: Resampler | undefined;
  #odd: Uint8Array = new Uint8Array();

  constructor(from: AudioFormat, to: AudioFormat) {
    this.#from = from;
    this.#to = to;
    this.#resampler = from.rateHz === to.rateHz ? undefined : new Resampler(from.rateHz, to.rateHz);
  }

  push(bytes: Uint8Array): Uint8Array {
    const whole = this.#whole(bytes);
    if (this.#from.encoding === this.#to.encoding && this.#resampler === undefined) return whole;
    const pcm = decodeAudio(this.#from.encoding, whole);
    return encodeAudio(this.#to.encoding, this.#resampler === undefined ? pcm : this.#resampler.process(pcm));
  }

  /** What the resampler still owes. */
  flush(): Uint8Array {
    return this.#resampler === undefined ? new Uint8Array() : encodeAudio(this.#to.encoding, this.#resampler.flush());
  }

  #whole(bytes: Uint8Array): Uint8Array {
    if (this.#from.encoding !== 'pcm16') return bytes;
    const joined = new Uint8Array(this.#odd.length + bytes.length);
    joined.set(this.#odd);
    joined.set(bytes, this.#odd.length);
    const whole = joined.length - (joined.length % 2);
    this.#odd = joined.slice(whole);
    return joined.subarray(0, whole);
  }
}
