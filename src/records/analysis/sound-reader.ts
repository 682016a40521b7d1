import { spawn } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { CompressedAudioError, MediaNeedsFfmpegError } from '../../audio/errors.ts';
import { ffmpegInput } from '../../audio/media/ffmpeg.ts';
import type { CompressedFormat } from '../../audio/recording-format.ts';
import { wavHeader } from '../../audio/wav.ts';
import { RecordingCoder } from '../../audio/recording/recording-coder.ts';
import { PLATFORM_LIMITS } from './wav-recording.ts';
import { CONTAINERS, type Container, containerOf } from '../../audio/media/container.ts';
import { decodedRateHz } from '../../audio/media/decode-job.ts';
import { MediaDecoder } from '../../audio/media/media-decoder.ts';
import { pourIntoFile, readFileParts } from '../../kernel/file-streams.ts';

/** What tells and decodes the formats that are no WAV. */
export interface SoundReader {
  /** @param head the file's first 16 bytes or more. @returns undefined for what is no audio */
  containerOf(head: Uint8Array): string | undefined;
  /**
   * Decodes into a WAV of 16 bits, its channels apart where that can be done here, else mixed into one.
   * @returns false where nothing here can, although the platform may
   * @throws OffhookError for what is damaged or too long
   */
  decode(path: string, container: string, wavPath: string, signal: AbortSignal): Promise<boolean>;
}

/** Containers of compressed recordings, and what those would hold. */
const OURS: Readonly<Partial<Record<Container, CompressedFormat>>> = { flac: 'flac', ogg: 'opus' };

/**
 * Recordings that are no WAV: by a system's ffmpeg with their channels apart, and so without one what a gateway wrote; else
 * by our decoders as one.
 * @param ffmpeg its name or path
 */
export function soundReader(ffmpeg = 'ffmpeg'): SoundReader {
  const decoder = new MediaDecoder({ ffmpeg });
  const coder = new RecordingCoder();
  return {
    containerOf: (head) => containerOf(head),
    async decode(inputPath, named, wavPath, signal) {
      const container = CONTAINERS.find((each) => each === named);
      if (container === undefined) return false;
      if (await decodeStereo(ffmpeg, { path: inputPath, container }, wavPath, PLATFORM_LIMITS.seconds, signal)) return true;
      if (await restored(coder, inputPath, OURS[container], wavPath, signal)) return true;
      const outputPath = `${wavPath}.pcm`;
      try {
        await decoder.decode({ inputPath, container, outputPath, maxSeconds: PLATFORM_LIMITS.seconds }, signal);
        const { size: dataBytes } = await stat(outputPath);
        const header = wavHeader({ rateHz: decodedRateHz, channels: 1, dataBytes, encoding: 'pcm16' });
        const samples = readFileParts(outputPath, { partBytes: 1024 * 1024 });
        await pourIntoFile(samples, wavPath, {
          async *through(parts: AsyncIterable<Uint8Array>) {
            yield header;
            yield* parts;
          },
          signal,
        });
        return true;
      } catch (error) {
        // The platform has its own decoders.
        if (error instanceof MediaNeedsFfmpegError) return false;
        throw error;
      } finally {
        await rm(outputPath, { force: true });
      }
    },
  };
}

/** @returns false for a file that no gateway wrote */
async function restored(
  coder: RecordingCoder,
  inputPath: string,
  format: CompressedFormat | undefined,
  outputPath: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (format === undefined) return false;
  try {
    await coder.code({ type: 'restore', format, inputPath, outputPath }, signal);
    return true;
  } catch (error) {
    if (error instanceof CompressedAudioError) return false;
    throw error;
  }
}

/** The platform hears no higher ones. */
const RATE_HZ = 16_000;

/**
 * Decodes with the system's `ffmpeg`, channels kept apart, which the own decoders do not: in a process that sees no network and
 * no other file.
 * @returns false where there is no such program, or it could not
 */
async function decodeStereo(
  ffmpeg: string,
  { path, container }: { readonly path: string; readonly container: Container },
  wavPath: string,
  maxSeconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  // A little more than is allowed, so that too much can be told from just enough.
  const output = [
    '-map',
    '0:a:0',
    '-t',
    `${maxSeconds + 1}`,
    '-ar',
    `${RATE_HZ}`,
    '-c:a',
    'pcm_s16le',
    '-f',
    'wav',
    `file:${wavPath}`,
  ];
  const child = spawn(
    ffmpeg,
    ['-nostdin', '-y', '-loglevel', 'quiet', '-threads', '1', ...ffmpegInput(container, path), ...output],
    {
      stdio: 'ignore',
      signal,
      killSignal: 'SIGKILL',
    },
  );
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  signal.throwIfAborted();
  if (code === 0) return true;
  await rm(wavPath, { force: true });
  return false;
}
