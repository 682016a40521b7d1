import type { Encoding } from '../../audio/format.ts';
import { parseWav } from '../../audio/wav.ts';
import { SpeechRequestError } from '../client/errors.ts';

/** Formats of batch synthesis; mulaw and alaw are 8 kHz telephony (TTS doc, format notes). */
export const SPEECH_FORMATS = ['pcm', 'wav', 'mp3', 'ogg_opus', 'flac', 'mulaw', 'alaw'] as const;

/** A format of batch synthesis, in the platform's words. */
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** Background sounds (TTS doc, "Speech request"). */
export const BACKGROUND_PRESETS = ['office', 'cafe', 'rain', 'street'] as const;

/** A background sound, in the platform's words. */
export type BackgroundPreset = (typeof BACKGROUND_PRESETS)[number];

/** Quality against speed (TTS doc, "Speech request"). */
export const SPEECH_QUALITIES = ['low', 'medium', 'high'] as const;

/** A quality, in the platform's words. */
export type SpeechQuality = (typeof SPEECH_QUALITIES)[number];

/** All fields of a speech request (TTS doc, "Speech request"); absent ones are not sent. */
export interface SpeechOptions {
  /** 1 to 10,000 characters; under 500 is recommended. */
  readonly text: string;
  /** A name from the health answer, which is the only list of them. */
  readonly voice: string;
  /** ISO 639 code; detected from the script when absent, which does not distinguish Hindi and Marathi. */
  readonly language?: string;
  /** 0.25 (slowest) to 4.0; 1.0 when absent. */
  readonly speed?: number;
  /** Removes silence below -40 dB at both ends. */
  readonly trimSilence?: boolean;
  /** A preset, or your own WAV or MP3 (as an object, because `cafe` and `rain` are valid base64). */
  readonly background?: BackgroundPreset | { readonly audio: Uint8Array };
  /** 0.0 to 1.0; 0.1 when absent. */
  readonly backgroundVolume?: number;
  /** A voice to clone: WAV, FLAC or OGG of 1 to 6 seconds, and its transcript of at most 500 characters. */
  readonly reference?: { readonly audio: Uint8Array; readonly text?: string };
  /** Speaks LaTeX formulas as words, in the Indic languages. */
  readonly latex?: boolean;
  /** Higher is more faithful and slower; `low` when absent. */
  readonly quality?: SpeechQuality;
}

const MOST_CHARACTERS = 10_000;
const MOST_REFERENCE_CHARACTERS = 500;
const MODEL = 'zero-indic';

/**
 * The JSON fields of a request, without its format.
 * @throws SpeechRequestError for what the documents rule out, before anything is sent
 */
export function speechFields(options: SpeechOptions): Record<string, string | number | boolean> {
  check(options);
  const { text, voice, language, speed, trimSilence, background, backgroundVolume, reference, latex, quality } = options;
  const fields: Readonly<Record<string, string | number | boolean | undefined>> = {
    model: MODEL,
    input: text,
    voice,
    speed,
    language,
    trim_silence: trimSilence,
    background_audio: typeof background === 'object' ? base64(background.audio) : background,
    background_volume: backgroundVolume,
    reference_wav: reference === undefined ? undefined : base64(reference.audio),
    reference_text: reference?.text,
    latex,
    quality,
  };
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** @throws SpeechRequestError for a text that is empty or too long; characters are code points */
export function checkText(text: string): void {
  const characters = codePoints(text);
  if (characters < 1 || characters > MOST_CHARACTERS)
    throw new SpeechRequestError(`a text to speak has 1 to ${MOST_CHARACTERS} characters, not ${characters}`);
}

/** Counts code points without an array of the text. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The encoding of a format on a socket. @throws SpeechRequestError for a container format */
export function streamEncoding(format: SpeechFormat): Encoding {
  switch (format) {
    case 'pcm':
      return 'pcm16';
    case 'mulaw':
    case 'alaw':
      return format;
    case 'wav':
    case 'mp3':
    case 'ogg_opus':
    case 'flac':
      // The documents do not state which containers the socket has, and chunks of a container cannot be joined safely.
      throw new SpeechRequestError(`${format} cannot be streamed in chunks: ask for pcm, mulaw or alaw, or use batch synthesis`);
  }
}

function check(options: SpeechOptions): void {
  const { text, voice, speed = 1, background, backgroundVolume = 0, reference } = options;
  checkText(text);
  if (voice.trim() === '') refuse('a voice is needed; the health answer lists them');
  if (!(speed >= 0.25 && speed <= 4)) refuse(`speed is 0.25 to 4, not ${speed}`);
  if (!(backgroundVolume >= 0 && backgroundVolume <= 1)) refuse(`backgroundVolume is 0 to 1, not ${backgroundVolume}`);
  if (typeof background === 'object' && background.audio.length === 0) refuse('the background audio is empty');
  if (reference !== undefined) checkReference(reference);
}

function checkReference({ audio, text = '' }: NonNullable<SpeechOptions['reference']>): void {
  const words = codePoints(text);
  if (words > MOST_REFERENCE_CHARACTERS)
    refuse(`the transcript of a reference has at most ${MOST_REFERENCE_CHARACTERS} characters, not ${words}`);
  const head = Buffer.from(audio.subarray(0, 4)).toString('latin1');
  if (!['RIFF', 'fLaC', 'OggS'].includes(head)) refuse('a reference is WAV, FLAC or OGG');
  const seconds = head === 'RIFF' ? wavSeconds(audio) : undefined;
  if (seconds !== undefined && (seconds < 1 || seconds > 6)) refuse(`a reference lasts 1 to 6 s, not ${seconds.toFixed(2)} s`);
}

/** Undefined for an unreadable WAV, which the platform may still accept. */
function wavSeconds(audio: Uint8Array): number | undefined {
  try {
    const { samples, rateHz } = parseWav(audio);
    return (samples[0]?.length ?? 0) / rateHz;
  } catch {
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function refuse(rule: string): never {
  throw new SpeechRequestError(`synthesis: ${rule}`);
}
