import { rm, stat } from 'node:fs/promises';
import { CompressedAudioError, MediaNeedsFfmpegError } from '../../audio/errors.ts';
import type { CompressedFormat } from '../../audio/recording-format.ts';
import { wavHeader } from '../../audio/wav.ts';
import { RecordingCoder } from '../../audio/recording/recording-coder.ts';
import type { SoundReader } from '../../jobs/analysis/analyse-recording.ts';
import { PLATFORM_LIMITS } from '../../jobs/analysis/split-recording.ts';
import { CONTAINERS, type Container, containerOf } from '../../audio/media/container.ts';
import { decodedRateHz } from '../../audio/media/decode-file.ts';
import { MediaDecoder } from '../../audio/media/media-decoder.ts';
import { pourIntoFile } from '../../kernel/pour-into-file.ts';
import { readFileParts } from '../../kernel/read-file-parts.ts';
import { decodeStereo } from './stereo-decoder.ts';

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
