import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pourIntoFile } from '../../kernel/pour-into-file.ts';
import { splitWav } from '../../speech/medical/split-wav.ts';
import { inspectWav } from './wav-recording.ts';
import { wavSampleBytes } from '../../audio/wav.ts';

/** What the platform takes at once: 500 MB and four hours (ASR doc, limits). */
export const PLATFORM_LIMITS = { bytes: 500 * 1024 * 1024, seconds: 4 * 3600 } as const;

/** A file that may be sent as it is, and where it begins in the whole. */
export interface RecordingPiece {
  readonly path: string;
  readonly startS: number;
}

/**
 * A WAV file as files within the limits, cut where it is quietest. One that is within them stays what it is; the others are
 * written beside `stem`, and are the caller's to remove.
 * @throws WavError
 */
export async function splitRecording(
  path: string,
  stem: string,
  signal: AbortSignal,
  limits: { readonly bytes: number; readonly seconds: number } = PLATFORM_LIMITS,
): Promise<RecordingPiece[]> {
  const { dataOffset, dataBytes, rateHz, format, channels } = await inspectWav(path);
  const bytesBySeconds = dataOffset + Math.floor(limits.seconds * rateHz) * wavSampleBytes(format) * channels;
  const maxBytes = Math.min(limits.bytes, bytesBySeconds);
  if (dataOffset + dataBytes <= maxBytes) return [{ path, startS: 0 }];
  const pieces: RecordingPiece[] = [];
  try {
    for (const [index, { blob, startS }] of (await splitWav(await openAsBlob(path), maxBytes)).entries()) {
      const piece = `${stem}.${index + 1}.wav`;
      pieces.push({ path: piece, startS });
      await pourIntoFile(Readable.fromWeb(blob.stream()), piece, { signal });
    }
  } catch (error) {
    for (const { path: piece } of pieces) await rm(piece, { force: true });
    throw error;
  }
  return pieces;
}
