import { resample } from '../../../audio/resample.ts';
import { Backdrop, loopOf, sceneLoop } from '../../engines/background/backdrop.ts';
import { isSceneName, type SceneName } from '../../engines/background/scenes.ts';
import { SPEECH_LEVEL_DB } from '../../engines/synth/shape.ts';
import { Refusal } from '../refusal.ts';
import { type ClipFormat, ClipError, decodeClip, type Clip } from './clip-audio.ts';

/** What lies under the speech: a preset, or a file's bytes (TTS doc, background_audio). */
export interface Background {
  readonly source: SceneName | Uint8Array;
  /** Above 0, at most 1. */
  readonly volume: number;
}

const DEFAULT_VOLUME = 0.1;

/**
 * @param source a preset's name, which comes first (`cafe` and `rain` are valid base64 too), or base64
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

/** @throws Refusal 400 naming the field; Node would skip what is not base64 */
export function base64Bytes(text: string, field: string, wanted: string): Uint8Array {
  const bare = text.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(bare) || bare.replace(/=+$/, '').length % 4 === 1) {
    throw new Refusal(400, `${field}: must be ${wanted}`);
  }
  return Buffer.from(bare, 'base64');
}
