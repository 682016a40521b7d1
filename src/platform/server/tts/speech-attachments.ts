import { setImmediate } from 'node:timers/promises';
import { parseWav } from '../../../audio/wav.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import { bytesInMemory } from '../../../audio/byte-source.ts';
import { decodeFlac } from '../../../audio/flac/flac-decoder.ts';
import { decodeMp3 } from '../../../audio/media/mp3-decoder.ts';
import { decodeOgg } from '../../../audio/media/ogg-decoder.ts';
import { oggHead } from '../../../audio/ogg/ogg.ts';
import { isOpusHead } from '../../../audio/opus/ogg-opus.ts';
import { peakLevel } from '../../../audio/level.ts';
import { joinSamples, mixDown } from '../../../audio/samples.ts';
import { decodeOggOpus } from './encode-speech.ts';
import { resample } from '../../../audio/resample.ts';
import { Backdrop, loopOf, sceneLoop, isSceneName, type SceneName } from '../../engines/background/backdrop.ts';
import { likenessOf } from '../../engines/synth/likeness.ts';
import type { VoiceLikeness } from '../../engines/synth/port.ts';
import { SPEECH_LEVEL_DB } from '../../engines/synth/speak-sentences.ts';
import { Refusal } from '../listener/refusal.ts';

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
/** -60 dBFS: anything softer is the noise of a line. */
const QUIETEST_PEAK = 33;

/** A clip with the voice to clone, and what is said in it ('' when not known). */
export interface Reference {
  readonly clip: Uint8Array;
  readonly transcript: string;
}

/**
 * The voice to clone.
 * @throws Refusal 400 for no base64, or a transcript of more than 500 characters
 */
export function referenceOf(clip: string | null | undefined, transcript: string | null | undefined): Reference | undefined {
  if (transcript && Array.from(transcript).length > MAX_REFERENCE_TEXT) {
    throw new Refusal(400, `reference_text: must hold at most ${MAX_REFERENCE_TEXT} characters`);
  }
  if (clip === undefined || clip === null || clip === '') return undefined;
  return { clip: base64Bytes(clip, 'reference_wav', 'base64 of a WAV, FLAC or OGG file'), transcript: transcript ?? '' };
}

/**
 * The voice's likeness to a clip.
 * @throws Refusal 400 when it is not a WAV, FLAC or OGG of 1 to 6 seconds, or has no speech
 */
export async function referenceLikeness({ clip, transcript }: Reference): Promise<VoiceLikeness> {
  const { pcm, rateHz } = await attachedClip(clip, 'reference_wav', ['wav', 'flac', 'ogg']);
  const seconds = pcm.length / rateHz;
  if (seconds < CLIP_S.min - CLIP_S.rounding || seconds > CLIP_S.max + CLIP_S.rounding) {
    throw new Refusal(400, `reference_wav: must last ${CLIP_S.min} to ${CLIP_S.max} s, not ${seconds.toFixed(2)} s`);
  }
  const likeness = peakLevel(pcm) < QUIETEST_PEAK ? undefined : likenessOf(pcm, rateHz, transcript);
  if (likeness === undefined) {
    throw new Refusal(
      400,
      `reference_wav: no speech was found in it; send ${CLIP_S.min} to ${CLIP_S.max} s of one person speaking, as WAV, FLAC or OGG`,
    );
  }
  return likeness;
}

/** A clip that cannot be decoded. */
export class ClipError extends OffhookError {
  readonly code = 'OFFHOOK_CLIP_INVALID';
  readonly retryable = false;
}

export interface Clip {
  /** Mono: channels are averaged. */
  readonly pcm: Int16Array;
  readonly rateHz: number;
}

export type ClipFormat = 'wav' | 'flac' | 'ogg' | 'mp3';

/** Longest clip: a file of a few megabytes may hold hours. */
const MAX_SECONDS = 120;
/** Blocks decoded before the event loop gets a turn. */
const TURN_EVERY = 32;
const SENSIBLE_RATES = { min: 4000, max: 192_000 };

/** The format, told by the first bytes; undefined for any other. */
export function clipFormat(bytes: Uint8Array): ClipFormat | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('RIFF') && start.endsWith('WAVE')) return 'wav';
  if (start.startsWith('fLaC')) return 'flac';
  if (start.startsWith('OggS')) return 'ogg';
  // An ID3 tag, or a frame header of layer III.
  if (start.startsWith('ID3') || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe6) === 0xe2)) return 'mp3';
  return undefined;
}

/**
 * Decodes a short file of a request (TTS doc, reference_wav and background_audio).
 * @param accepted formats that the field accepts
 * @throws ClipError for another format, a damaged file, no samples, or more than two minutes
 */
export async function decodeClip(bytes: Uint8Array, accepted: readonly ClipFormat[]): Promise<Clip> {
  const format = clipFormat(bytes);
  if (format === undefined || !accepted.includes(format))
    throw new ClipError(`must be ${accepted.join(', ').toUpperCase()} audio`);
  let clip: Clip;
  try {
    clip = await decoded(bytes, format);
  } catch (error) {
    // A decoder's own message is for the log only.
    const why = error instanceof OffhookError ? `: ${error.message}` : '';
    throw new ClipError(`cannot be read as ${format.toUpperCase()}${why}`, { cause: error });
  }
  const { pcm, rateHz } = clip;
  if (pcm.length === 0) throw new ClipError('holds no audio');
  if (rateHz < SENSIBLE_RATES.min || rateHz > SENSIBLE_RATES.max) throw new ClipError(`has a sample rate of ${rateHz} Hz`);
  if (pcm.length > MAX_SECONDS * rateHz) throw new ClipError(`is longer than ${MAX_SECONDS} s`);
  return clip;
}

async function decoded(bytes: Uint8Array, format: ClipFormat): Promise<Clip> {
  if (format === 'wav') {
    const { samples, rateHz } = parseWav(bytes);
    return { pcm: mixDown(samples, samples[0]?.length ?? 0, 1), rateHz };
  }
  if (format === 'ogg' && isOpusHead(oggHead(bytesInMemory(bytes)))) {
    return { pcm: await decodeOggOpus(bytes, (MAX_SECONDS + 1) * 24_000), rateHz: 24_000 };
  }
  const source = bytesInMemory(bytes);
  const blocks = format === 'mp3' ? decodeMp3(source) : format === 'flac' ? decodeFlac(source) : decodeOgg(source);
  const parts: Int16Array[] = [];
  let [rateHz, samples] = [0, 0];
  // Block by block, so that a small file with hours of audio is stopped before it fills memory.
  for await (const block of blocks) {
    if (block.pcm.length === 0) continue;
    if (parts.length % TURN_EVERY === 0) await setImmediate();
    parts.push(block.pcm);
    rateHz = block.rateHz;
    samples += block.pcm.length;
    if (samples > MAX_SECONDS * rateHz) break;
  }
  return { pcm: joinSamples(parts), rateHz };
}
