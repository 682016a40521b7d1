import { decodeAudio } from '../../audio/codec.ts';
import type { Encoding } from '../../audio/format.ts';
import { encodeMulaw } from '../../audio/g711.ts';
import { Resampler } from '../../audio/resample.ts';

const LINE_RATE_HZ = 8_000;

/**
 * Brings whatever a synthesizer answers to 8 kHz mu-law, chunk by chunk: another rate is resampled and another encoding
 * recoded, never played as noise. An odd byte of PCM waits for its other half.
 */
export class MulawStream {
  readonly #encoding: Encoding;
  readonly #resampler: Resampler | undefined;
  #odd: Uint8Array = new Uint8Array();

  constructor(encoding: Encoding, rateHz: number) {
    this.#encoding = encoding;
    this.#resampler = rateHz === LINE_RATE_HZ ? undefined : new Resampler(rateHz, LINE_RATE_HZ);
  }

  push(bytes: Uint8Array): Uint8Array {
    if (this.#encoding === 'mulaw' && this.#resampler === undefined) return bytes;
    const pcm = decodeAudio(this.#encoding, this.#whole(bytes));
    return encodeMulaw(this.#resampler === undefined ? pcm : this.#resampler.process(pcm));
  }

  /** What the resampler still owes. */
  flush(): Uint8Array {
    return this.#resampler === undefined ? new Uint8Array() : encodeMulaw(this.#resampler.flush());
  }

  #whole(bytes: Uint8Array): Uint8Array {
    if (this.#encoding !== 'pcm16') return bytes;
    const joined = new Uint8Array(this.#odd.length + bytes.length);
    joined.set(this.#odd);
    joined.set(bytes, this.#odd.length);
    const whole = joined.length - (joined.length % 2);
    this.#odd = joined.slice(whole);
    return joined.subarray(0, whole);
  }
}
