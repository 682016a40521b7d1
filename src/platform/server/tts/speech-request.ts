import { z } from 'zod';
import type { EngineVoice } from '../../engines/synth/port.ts';
import { inReadableScript } from '../../engines/synth/readable.ts';
import { sentences } from '../../engines/synth/speak-sentences.ts';
import { spokenLanguage } from '../../engines/synth/spoken-language.ts';
import { findLanguage, type Language, languageName, indicLanguages } from '../../languages.ts';
import { firstProblem, flagRule, readFlag, Refusal } from '../listener/refusal.ts';
import { isSpeechFormat, type SpeechFormat, speechFormats, qualities, type Quality } from './encode-speech.ts';
import { type Background, backgroundOf, type Reference, referenceOf } from './speech-attachments.ts';

/** One synthesis, checked (TTS doc, speech request). */
export interface SpeechRequest {
  readonly text: string;
  readonly voice: EngineVoice;
  /** As requested; undefined: told from the script of the text. */
  readonly language: Language | undefined;
  readonly format: SpeechFormat;
  /** 0.25 to 4. */
  readonly speed: number;
  readonly trimSilence: boolean;
  readonly background: Background | undefined;
  /** The voice to clone. */
  readonly reference: Reference | undefined;
  readonly quality: Quality;
  /** Formulas in the text are replaced with words. */
  readonly latex: boolean;
}

export interface SpeechSurface {
  /** The stream has its own default format, and the Indic languages only (TTS doc, WebSocket). */
  readonly kind: 'batch' | 'stream';
  /** Accepts `tts-1` and similar models. */
  readonly compat: boolean;
  readonly voices: readonly EngineVoice[];
}

export const maxTextCharacters = 10_000;

export const speechModel = 'zero-indic';
const foreignModels = new Set(['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);

const flag = z.boolean(flagRule);

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
  trim_silence: flag.nullish(),
  background_audio: z.string().nullish(),
  background_volume: z.number().min(0).max(1).nullish(),
  reference_wav: z.string().nullish(),
  reference_text: z.string().nullish(),
  latex: flag.nullish(),
  quality: z.enum(qualities).nullish(),
  /** Server-sent events are not supported. */
  stream_format: z.literal('audio', 'must be audio: the answer is the sound itself').nullish(),
});

/** Fields as the client sent them; unknown ones are ignored. */
export type SpeechFields = z.infer<typeof speechFieldsSchema>;

/** @throws Refusal 400 naming the first field of a wrong type or out of its range */
export function readSpeechFields(raw: unknown): SpeechFields {
  const result = speechFieldsSchema.safeParse(raw);
  if (result.success) return result.data;
  throw new Refusal(400, firstProblem(result.error, 'The body must be a JSON object'));
}

/**
 * Checks the fields together.
 * @throws Refusal 400 for a missing field or a value out of range, 422 for text that cannot be spoken
 */
export function speechRequestOf(fields: SpeechFields, surface: SpeechSurface): SpeechRequest {
  checkModel(fields.model ?? required('model'), surface);
  const text = eitherOf(fields.input, fields.target_text, 'input', 'target_text') ?? required('input');
  const voice = voiceOf(fields, surface) ?? required('voice');
  checkText(text);
  const language = languageOf(fields.language, surface);
  if (surface.kind === 'stream') checkStreamedText(text, voice, language, surface);
  return {
    text,
    voice,
    language,
    format: formatOf(fields, surface),
    speed: fields.speed ?? 1,
    trimSilence: fields.trim_silence ?? false,
    background: backgroundOf(fields.background_audio, fields.background_volume),
    reference: referenceOf(fields.reference_wav, fields.reference_text),
    quality: fields.quality ?? 'low',
    latex: fields.latex ?? false,
  };
}

/**
 * Checks settings that come before their text, so that a wrong setting is refused at once.
 * @throws Refusal as `speechRequestOf` does, except for missing fields
 */
export function checkSpeechSettings(fields: SpeechFields, surface: SpeechSurface): void {
  if (fields.model !== undefined) checkModel(fields.model, surface);
  voiceOf(fields, surface);
  languageOf(fields.language, surface);
  formatOf(fields, surface);
  backgroundOf(fields.background_audio, fields.background_volume);
  referenceOf(fields.reference_wav, fields.reference_text);
}

function required(field: string): never {
  throw new Refusal(400, `${field}: the field is required`);
}

function checkModel(model: string, { compat }: SpeechSurface): void {
  if (model !== speechModel && !(compat && foreignModels.has(model))) throw new Refusal(400, `model: must be ${speechModel}`);
}

function voiceOf(fields: SpeechFields, { voices }: SpeechSurface): EngineVoice | undefined {
  const wanted = eitherOf(fields.voice, fields.speaker_id, 'voice', 'speaker_id')?.trim().toLowerCase();
  if (wanted === undefined) return undefined;
  const voice = voices.find(({ name }) => name.toLowerCase() === wanted);
  if (voice === undefined) throw unprocessable('voice', 'unknown voice; GET /health lists them');
  return voice;
}

/** `target_text` and `speaker_id` are aliases (TTS doc, POST /v1/audio/speech). */
function eitherOf(value: string | undefined, alias: string | undefined, name: string, aliasName: string): string | undefined {
  if (value !== undefined && alias !== undefined && value !== alias) {
    throw new Refusal(400, `${name} and ${aliasName} are the same field and were given different values`);
  }
  return value ?? alias;
}

/** Characters are counted as code points. */
function checkText(text: string): void {
  // A code point has one or two UTF-16 units.
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
  if (surface.kind === 'stream' && !isStreamed(language.code, surface)) {
    throw unprocessable('language', streamedLanguages);
  }
  return language;
}

const streamedLanguages = `streaming serves the Indic languages and English only (${[...indicLanguages].join(', ')}), and those of voice models`;

/** A voice model brings its languages along. */
const isStreamed = (language: string, { voices }: SpeechSurface): boolean =>
  indicLanguages.has(language) || voices.some((voice) => voice.language === language);

/** Each sentence is checked: one in another script is read in another language, whatever the request says. */
function checkStreamedText(text: string, voice: EngineVoice, language: Language | undefined, surface: SpeechSurface): void {
  for (const sentence of sentences(text)) {
    const spoken = spokenLanguage(inReadableScript(sentence), language?.code, voice.language);
    if (isStreamed(spoken, surface)) continue;
    throw unprocessable('input', `${streamedLanguages}; a sentence is written in the script of ${languageName(spoken)}`);
  }
}

function unprocessable(field: string, msg: string): Refusal {
  return new Refusal(422, [{ loc: ['body', field], msg, type: 'value_error' }]);
}

/** The fields of a socket's query, with numbers and flags converted from text. */
export function speechFieldsOfQuery(query: URLSearchParams): unknown {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of query) {
    if (name === 'token') continue;
    if (name === 'speed' || name === 'background_volume') fields[name] = value.trim() === '' ? value : Number(value);
    else if (name === 'trim_silence' || name === 'latex') fields[name] = readFlag(value) ?? value;
    else fields[name] = value;
  }
  return fields;
}
