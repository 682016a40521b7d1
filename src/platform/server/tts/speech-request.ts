import { z } from 'zod';
import { findLanguage, type Language } from '../../languages.ts';
import type { EngineVoice } from '../../engines/port.ts';
import { indicLanguages } from '../../indic-languages.ts';
import { Refusal } from '../refusal.ts';
import { isSpeechFormat, type SpeechFormat, speechFormats } from './audio-formats.ts';
import { qualities, type Quality } from './quality.ts';
import { type Background, backgroundOf, referenceOf } from './speech-attachments.ts';

/** One synthesis, checked (TTS doc, speech request). */
export interface SpeechRequest {
  readonly text: string;
  readonly voice: EngineVoice;
  /** As asked; undefined: to be told from the script. */
  readonly language: Language | undefined;
  readonly format: SpeechFormat;
  /** 0.25 to 4. */
  readonly speed: number;
  readonly trimSilence: boolean;
  readonly background: Background | undefined;
  /** A file with a voice to take pitch and range from. */
  readonly reference: Uint8Array | undefined;
  readonly quality: Quality;
  /** Formulas in the text are put in words first. */
  readonly latex: boolean;
}

export interface SpeechSurface {
  /** The socket has its own default format and serves the Indic languages only (TTS doc, WebSocket). */
  readonly kind: 'batch' | 'stream';
  /** Takes `tts-1` and its like as the model. */
  readonly compat: boolean;
  readonly voices: readonly EngineVoice[];
}

export const maxTextCharacters = 10_000;

export const speechModel = 'zero-indic';
const foreignModels = new Set(['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);

export const speechFieldsSchema = z.object({
  model: z.string().optional(),
  input: z.string().optional(),
  target_text: z.string().optional(),
  voice: z.string().optional(),
  speaker_id: z.string().optional(),
  response_format: z.string().nullish(),
  encoding: z.string().nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  language: z.string().nullish(),
  trim_silence: z.boolean().nullish(),
  background_audio: z.string().nullish(),
  background_volume: z.number().min(0).max(1).nullish(),
  reference_wav: z.string().nullish(),
  reference_text: z.string().nullish(),
  latex: z.boolean().nullish(),
  quality: z.enum(qualities).nullish(),
});

/** Fields as a client gave them; unknown ones are ignored. */
export type SpeechFields = z.infer<typeof speechFieldsSchema>;

/** @throws Refusal 400 naming the first field of a wrong type or out of its range */
export function readSpeechFields(raw: unknown): SpeechFields {
  const result = speechFieldsSchema.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new Refusal(400, field === '' ? 'The body must be a JSON object' : `${field}: ${issue?.message ?? 'malformed'}`);
}

/**
 * Checks the fields together.
 * @throws Refusal 400 for what is missing, out of range or not served yet, 422 for what cannot be spoken
 */
export function speechRequestOf(fields: SpeechFields, surface: SpeechSurface): SpeechRequest {
  const asked = fields.model;
  if (asked === undefined) throw new Refusal(400, 'model: the field is required');
  if (asked !== speechModel && !(surface.compat && foreignModels.has(asked)))
    throw new Refusal(400, `model: must be ${speechModel}`);
  const text = eitherOf(fields.input, fields.target_text, 'input', 'target_text');
  const voiceName = eitherOf(fields.voice, fields.speaker_id, 'voice', 'speaker_id');
  checkText(text);
  const wanted = voiceName.trim().toLowerCase();
  const voice = surface.voices.find(({ name }) => name.toLowerCase() === wanted);
  if (voice === undefined) throw unprocessable('voice', 'unknown voice; GET /health lists them');
  return {
    text,
    voice,
    language: languageOf(fields.language, surface),
    format: formatOf(fields, surface),
    speed: fields.speed ?? 1,
    trimSilence: fields.trim_silence ?? false,
    background: backgroundOf(fields.background_audio, fields.background_volume),
    reference: referenceOf(fields.reference_wav, fields.reference_text),
    quality: fields.quality ?? 'low',
    latex: fields.latex ?? false,
  };
}

/** `target_text` and `speaker_id` are other names of the same fields (TTS doc, POST /v1/audio/speech). */
function eitherOf(value: string | undefined, alias: string | undefined, name: string, aliasName: string): string {
  if (value !== undefined && alias !== undefined && value !== alias) {
    throw new Refusal(400, `${name} and ${aliasName} are the same field and were given different values`);
  }
  const given = value ?? alias;
  if (given === undefined) throw new Refusal(400, `${name}: the field is required`);
  return given;
}

/** Characters are code points: one of four bytes counts once. */
function checkText(text: string): void {
  // The length in UTF-16 units is at least the number of code points, and at most twice it.
  const characters = text.length > 2 * maxTextCharacters ? text.length : Array.from(text).length;
  if (characters === 0) throw new Refusal(400, 'input: must hold at least one character');
  if (characters > maxTextCharacters) throw new Refusal(400, `input: must hold at most ${maxTextCharacters} characters`);
  if (text.trim() === '') throw unprocessable('input', 'holds nothing to speak');
  if (/\p{Surrogate}/u.test(text)) throw unprocessable('input', 'holds half of a surrogate pair');
}

function formatOf(fields: SpeechFields, surface: SpeechSurface): SpeechFormat {
  const byDefault = surface.kind === 'stream' ? 'pcm' : 'mp3';
  const name = fields.response_format ?? fields.encoding ?? byDefault;
  if (!isSpeechFormat(name)) {
    throw new Refusal(400, 'response_format: must be one of pcm, wav, mp3, ogg_opus, flac, mulaw, alaw');
  }
  return speechFormats[name];
}

function languageOf(word: string | null | undefined, surface: SpeechSurface): Language | undefined {
  if (word === undefined || word === null || word === '') return undefined;
  const language = findLanguage(word);
  if (language === undefined) throw unprocessable('language', 'unknown language code');
  if (surface.kind === 'stream' && !indicLanguages.has(language.code)) {
    throw unprocessable('language', 'streaming serves the Indic languages and English only');
  }
  return language;
}

function unprocessable(field: string, msg: string): Refusal {
  return new Refusal(422, [{ loc: ['body', field], msg, type: 'value_error' }]);
}

/** The same fields from the query of a socket's address, where numbers and flags are text. */
export function speechFieldsOfQuery(query: URLSearchParams): unknown {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of query) {
    if (name === 'token') continue;
    if (name === 'speed' || name === 'background_volume') fields[name] = value.trim() === '' ? value : Number(value);
    else if (name === 'trim_silence' || name === 'latex') fields[name] = value === 'true' || value === '1';
    else fields[name] = value;
  }
  return fields;
}
