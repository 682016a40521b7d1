import { resample } from '../../../audio/resample.ts';
import { Backdrop, loopOf, sceneLoop } from '../../engines/background/backdrop.ts';
import { isSceneName, type SceneName } from '../../engines/background/scenes.ts';
import { likenessOf } from '../../engines/synth/likeness.ts';
import type { VoiceLikeness } from '../../engines/synth/port.ts';
import { SPEECH_LEVEL_DB } from '../../engines/synth/speak-sentences.ts';
import { Refusal } from '../listener/refusal.ts';
import { type ClipFormat, ClipError, decodeClip, type Clip } from './clip-audio.ts';

/** The background of speech: a preset, or the bytes of a file (TTS doc, background_audio). */
export interface Background {
  readonly source: SceneName | Uint8Array;
  /** Above 0, at most 1. */
  readonly volume: number;
}

const DEFAULT_VOLUME = 0.1;

/**
 * @param source the name of a preset, checked first since `cafe` and `rain` are also valid base64; or base64
 * @throws Refusal 400 for anything else
 */
export function backgroundOf(source: string | null | undefined, volume: number | null | undefined): Background | undefined {
  if (source === undefined || source === null || source === '') return undefined;
  const bytes = isSceneName(source)
    ? source
    : base64Bytes(source, 'background_audio', 'office, cafe, rain, street or base64 audio');
  const wanted = volume ?? DEFAULT_VOLUME;
  return wanted === 0 ? undefined : { source: bytes, volume: wanted };
}

/** @throws Refusal 400 when a file is no readable WAV or MP3 */
export async function backdropOf({ source, volume }: Background, rateHz: number): Promise<Backdrop> {
  if (typeof source === 'string') return new Backdrop(await sceneLoop(source, rateHz, SPEECH_LEVEL_DB), volume);
  const clip = await attachedClip(source, 'background_audio', ['wav', 'mp3']);
  return new Backdrop(loopOf(resample(clip.pcm, clip.rateHz, rateHz), rateHz, SPEECH_LEVEL_DB), volume);
}

/** @throws Refusal 400 naming the field */
export async function attachedClip(bytes: Uint8Array, field: string, formats: readonly ClipFormat[]): Promise<Clip> {
  try {
    return await decodeClip(bytes, formats);
  } catch (error) {
    if (error instanceof ClipError) throw new Refusal(400, `${field}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Strict, since Node skips invalid characters. @throws Refusal 400 naming the field */
export function base64Bytes(text: string, field: string, wanted: string): Uint8Array {
  const bare = text.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(bare) || bare.replace(/=+$/, '').length % 4 === 1) {
    throw new Refusal(400, `${field}: must be ${wanted}`);
  }
  return Buffer.from(bare, 'base64');
}

/** Length of a reference clip (TTS doc, limits); a file may round by a millisecond. */
const CLIP_S = { min: 1, max: 6, rounding: 0.001 };
const MAX_REFERENCE_TEXT = 500;

/**
 * The bytes of a voice to clone.
 * @throws Refusal 400 for no base64, or a transcript of more than 500 characters
 */
export function referenceOf(clip: string | null | undefined, transcript: string | null | undefined): Uint8Array | undefined {
  // The transcript is for methods that train on the clip; here only its length is checked.
  if (transcript && Array.from(transcript).length > MAX_REFERENCE_TEXT) {
    throw new Refusal(400, `reference_text: must hold at most ${MAX_REFERENCE_TEXT} characters`);
  }
  if (clip === undefined || clip === null || clip === '') return undefined;
  return base64Bytes(clip, 'reference_wav', 'base64 of a WAV, FLAC or OGG file');
}

/**
 * Pitch and range of the voice in a clip; undefined when there is no voice in it.
 * @throws Refusal 400 when it is no WAV, FLAC or OGG of 1 to 6 seconds
 */
export async function referenceLikeness(bytes: Uint8Array): Promise<VoiceLikeness | undefined> {
  const { pcm, rateHz } = await attachedClip(bytes, 'reference_wav', ['wav', 'flac', 'ogg']);
  const seconds = pcm.length / rateHz;
  if (seconds < CLIP_S.min - CLIP_S.rounding || seconds > CLIP_S.max + CLIP_S.rounding) {
    throw new Refusal(400, `reference_wav: must last ${CLIP_S.min} to ${CLIP_S.max} s, not ${seconds.toFixed(2)} s`);
  }
  return likenessOf(pcm, rateHz);
}
