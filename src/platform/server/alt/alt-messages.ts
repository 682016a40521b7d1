import { z } from 'zod';
import { parseJson } from '../../../kernel/json.ts';
import { encodeAudio } from '../../../audio/codec.ts';
import { Resampler } from '../../../audio/resample.ts';
import { decodeWavSamples, readWavLayout, WavError, type WavSampleFormat, wavSampleBytes } from '../../../audio/wav.ts';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';
import { mixDownInterleaved } from '../../../audio/samples.ts';
import { firstProblem } from '../listener/fields.ts';
import type { ClientMessage } from '../asr/recognition-socket.ts';

/** Sample formats of a Variant B socket. */
export type AltSampleType = 'int16' | 'float32' | 'ulaw' | 'alaw';

/** The first message of a Variant B socket (reference, fact 11). */
export interface AltHandshake {
  readonly apiKey: string | undefined;
  readonly language: LanguageChoice;
  readonly sampleRateHz: number;
  readonly sampleType: AltSampleType;
  /** Silence that ends a segment. */
  readonly silenceMs: number;
  readonly sessionId: string | undefined;
}

export type AltHandshakeResult =
  | { readonly type: 'handshake'; readonly handshake: AltHandshake }
  /** The reason contains no key. */
  | { readonly type: 'refused'; readonly reason: string };

const defaultSilenceMs = 700;

const sampleType = z.enum(['int16', 'float32', 'ulaw', 'mulaw', 'alaw']);
export const altHandshakeSchema = z.object({
  type: z.literal('init').nullish(),
  api_key: z.string().nullish(),
  language: z.string().nullish(),
  language_code: z.string().nullish(),
  sample_rate: z.int().min(8000).max(48_000).nullish(),
  dtype: sampleType.nullish(),
  silence_threshold_sec: z.number().min(0.1).max(10).nullish(),
  session_id: z.string().max(200).nullish(),
});

/** @param text the first text frame, as received. `dtype` defaults to int16 (D) */
export function readAltHandshake(text: string): AltHandshakeResult {
  const result = altHandshakeSchema.safeParse(parseJson(text));
  if (!result.success) {
    return { type: 'refused', reason: firstProblem(result.error, 'The first message must be a JSON object') };
  }
  const frame = result.data;
  const word = frame.language ?? frame.language_code ?? undefined;
  const language = chooseLanguage(word);
  if (language === undefined) return { type: 'refused', reason: unsupportedLanguage(word ?? '') };
  return {
    type: 'handshake',
    handshake: {
      apiKey: frame.api_key ?? undefined,
      language,
      sampleRateHz: frame.sample_rate ?? 16_000,
      sampleType: sampleTypeOf(frame.dtype ?? 'int16'),
      silenceMs: Math.round((frame.silence_threshold_sec ?? defaultSilenceMs / 1000) * 1000),
      sessionId: frame.session_id ?? undefined,
    },
  };
}

export const altCommandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('frame'), audio: z.base64(), dtype: sampleType.nullish() }),
]);

const formats: Readonly<Record<AltSampleType, WavSampleFormat>> = {
  int16: 'pcm16',
  float32: 'float32',
  ulaw: 'mulaw',
  alaw: 'alaw',
};

/** Reads the messages after the handshake. A WAV header at the start overrides the sample format of the handshake. */
export class AltReader {
  readonly #rateHz: number;
  #format: WavSampleFormat;
  #channels = 1;
  #resampler: Resampler | undefined;
  #pending: Uint8Array = new Uint8Array(0);
  #begun = false;

  constructor({ sampleType: type, sampleRateHz }: AltHandshake) {
    this.#format = formats[type];
    this.#rateHz = sampleRateHz;
  }

  /** Samples, split anywhere; an empty message is the end. */
  readBytes(bytes: Uint8Array): ClientMessage {
    return bytes.length === 0 ? { type: 'end' } : this.#audio(bytes);
  }

  /** Bare `END`, `{"type":"end"}`, or a frame of audio in base64. */
  readText(text: string): ClientMessage {
    if (text.trim() === 'END') return { type: 'end' };
    const result = altCommandSchema.safeParse(parseJson(text));
    if (!result.success) return { type: 'refused', reason: 'Messages after ready are audio, END, or JSON of type frame or end' };
    if (result.data.type === 'end') return { type: 'end' };
    const { audio, dtype } = result.data;
    if (dtype != null) this.#format = formats[sampleTypeOf(dtype)];
    return this.#audio(Buffer.from(audio, 'base64'));
  }

  #audio(bytes: Uint8Array): ClientMessage {
    try {
      return { type: 'audio', bytes: encodeAudio('pcm16', this.#samples(bytes)) };
    } catch (error) {
      // An invalid WAV header, or one that is not complete in the first message.
      if (error instanceof WavError) return { type: 'refused', reason: error.message };
      throw error;
    }
  }

  #samples(bytes: Uint8Array): Int16Array {
    let data = bytes;
    if (!this.#begun && bytes.length >= 12 && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF') {
      // Only the start of the file is here: its length is unknown.
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
    const pcm = mixDownInterleaved(decodeWavSamples(this.#format, joined.subarray(0, whole)), this.#channels);
    return this.#resampler === undefined ? pcm : this.#resampler.process(pcm);
  }
}

function sampleTypeOf(word: z.infer<typeof sampleType>): AltSampleType {
  return word === 'mulaw' ? 'ulaw' : word;
}
