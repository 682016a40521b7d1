import { Resampler } from '../../../audio/resample.ts';
import { decodeWavSamples, readWavLayout, type WavSampleFormat, wavSampleBytes } from '../../../audio/wav.ts';
import { downmix } from '../asr/wav-stream.ts';
import type { AltSampleType } from './alt-handshake.ts';

const formats: Readonly<Record<AltSampleType, WavSampleFormat>> = {
  int16: 'pcm16',
  float32: 'float32',
  ulaw: 'mulaw',
  alaw: 'alaw',
};

/** Turns the bytes of a Variant B socket into mono samples; a WAV file's header says how to read what follows it. */
export class AltSamples {
  readonly #rateHz: number;
  #format: WavSampleFormat;
  #channels = 1;
  #resampler: Resampler | undefined;
  #pending: Uint8Array = new Uint8Array(0);
  #begun = false;

  constructor(sampleType: AltSampleType, rateHz: number) {
    this.#format = formats[sampleType];
    this.#rateHz = rateHz;
  }

  /**
   * @param bytes split anywhere
   * @param sampleType of these bytes, when it is not the handshake's
   * @throws WavError for a header that begins like one of WAV and is none, or not whole in the first bytes
   */
  read(bytes: Uint8Array, sampleType?: AltSampleType): Int16Array {
    let data = bytes;
    if (sampleType !== undefined) this.#format = formats[sampleType];
    if (!this.#begun && bytes.length >= 12 && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF') {
      // Of the file only the start has come: its length is not known.
      const layout = readWavLayout(bytes, Number.MAX_SAFE_INTEGER);
      this.#format = layout.format;
      this.#channels = layout.channels;
      if (layout.rateHz !== this.#rateHz) this.#resampler = new Resampler(layout.rateHz, this.#rateHz);
      data = bytes.subarray(layout.dataOffset);
    }
    this.#begun = true;
    const width = wavSampleBytes(this.#format) * this.#channels;
    const joined = Buffer.concat([this.#pending, data]);
    const whole = joined.length - (joined.length % width);
    this.#pending = joined.subarray(whole);
    const pcm = downmix(decodeWavSamples(this.#format, joined.subarray(0, whole)), this.#channels);
    return this.#resampler === undefined ? pcm : this.#resampler.process(pcm);
  }
}
