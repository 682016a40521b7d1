import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import { MPEGDecoder } from 'mpg123-decoder';
import { parseWav } from '../../../audio/wav.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import { bytesInMemory } from '../../../audio/byte-source.ts';
import { oggHead } from '../../../audio/ogg/ogg-reader.ts';
import { isOpusHead } from '../../../audio/opus/ogg-opus.ts';
import { setImmediate } from 'node:timers/promises';
import { joinSamples, mixDown } from '../../../audio/samples.ts';
import { decodeOggOpus } from './opus.ts';

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
const PIECE_BYTES = 1024;
/** Pieces decoded before the event loop gets a turn. */
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
  const decoder = format === 'mp3' ? new MPEGDecoder() : format === 'flac' ? new FLACDecoder() : new OggVorbisDecoder();
  await decoder.ready;
  try {
    const parts: Int16Array[] = [];
    let rateHz = 0;
    let samples = 0;
    // In small pieces, so that a small file with hours of audio is stopped before it fills memory.
    for (let at = 0; at < bytes.length && samples <= MAX_SECONDS * (rateHz || 1); at += PIECE_BYTES) {
      if (at % (TURN_EVERY * PIECE_BYTES) === 0) await setImmediate();
      const { channelData, sampleRate } = await decoder.decode(bytes.subarray(at, at + PIECE_BYTES));
      rateHz = sampleRate || rateHz;
      const pcm = mixDown(channelData, channelData[0]?.length ?? 0);
      parts.push(pcm);
      samples += pcm.length;
    }
    if ('flush' in decoder) {
      const { channelData, sampleRate } = await decoder.flush();
      rateHz ||= sampleRate;
      parts.push(mixDown(channelData, channelData[0]?.length ?? 0));
    }
    return { pcm: joinSamples(parts), rateHz };
  } finally {
    decoder.free();
  }
}
