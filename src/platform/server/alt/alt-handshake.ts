import { z } from 'zod';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';

/** How samples come in a Variant B socket's frames. */
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
  /** Repeats no key. */
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

/** @param text the first text frame, as received. `dtype` is int16 unless said otherwise (D) */
export function readAltHandshake(text: string): AltHandshakeResult {
  const raw = parseJson(text);
  const result = altHandshakeSchema.safeParse(raw);
  if (!result.success) {
    const issue = result.error.issues[0];
    const field = issue?.path.join('.') ?? '';
    return {
      type: 'refused',
      reason: field === '' ? 'The first message must be a JSON object' : `${field}: ${issue?.message ?? 'malformed'}`,
    };
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

/** What a text message after the handshake asks for. */
export type AltCommand =
  | { readonly type: 'end' }
  | { readonly type: 'audio'; readonly bytes: Uint8Array; readonly sampleType: AltSampleType | undefined }
  | { readonly type: 'refused'; readonly reason: string };

export const altCommandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('frame'), audio: z.base64(), dtype: sampleType.nullish() }),
]);

/** Bare `END`, `{"type":"end"}`, or a frame of audio in base64. */
export function readAltCommand(text: string): AltCommand {
  if (text.trim() === 'END') return { type: 'end' };
  const result = altCommandSchema.safeParse(parseJson(text));
  if (!result.success) return { type: 'refused', reason: 'Messages after ready are audio, END, or JSON of type frame or end' };
  if (result.data.type === 'end') return { type: 'end' };
  const { audio, dtype } = result.data;
  return { type: 'audio', bytes: Buffer.from(audio, 'base64'), sampleType: dtype == null ? undefined : sampleTypeOf(dtype) };
}

function sampleTypeOf(word: z.infer<typeof sampleType>): AltSampleType {
  return word === 'mulaw' ? 'ulaw' : word;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
