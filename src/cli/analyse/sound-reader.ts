import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { wavHeader } from '../../audio/wav.ts';
import type { SoundReader } from '../../jobs/analysis/analyse-recording.ts';
import { PLATFORM_LIMITS } from '../../jobs/analysis/split-recording.ts';
import { CONTAINERS, containerOf } from '../../audio/media/container.ts';
import { decodedRateHz } from '../../audio/media/decode-file.ts';
import { MediaNeedsFfmpegError } from '../../audio/media/errors.ts';
import { MediaDecoder } from '../../audio/media/media-decoder.ts';
import { decodeStereo } from './stereo-decoder.ts';

/** Recordings that are no WAV: by a system's ffmpeg with their channels apart, else by the embedded platform's decoders as one. */
export function soundReader(): SoundReader {
  const decoder = new MediaDecoder();
  return {
    containerOf: (head) => containerOf(head),
    async decode(inputPath, named, wavPath, signal) {
      const container = CONTAINERS.find((each) => each === named);
      if (container === undefined) return false;
      if (await decodeStereo(inputPath, container, wavPath, PLATFORM_LIMITS.seconds, signal)) return true;
      const outputPath = `${wavPath}.pcm`;
      try {
        await decoder.decode({ inputPath, container, outputPath, maxSeconds: PLATFORM_LIMITS.seconds }, signal);
        const { size: dataBytes } = await stat(outputPath);
        const header = wavHeader({ rateHz: decodedRateHz, channels: 1, dataBytes, encoding: 'pcm16' });
        const samples = createReadStream(outputPath, { highWaterMark: 1024 * 1024 });
        await pipeline(
          async function* wav() {
            yield Buffer.from(header);
            yield* samples;
          },
          createWriteStream(wavPath, { mode: 0o600 }),
          { signal },
        );
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
