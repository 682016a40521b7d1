import { appendFileSync, closeSync, openSync } from 'node:fs';
import { encodeAudio } from '../codec.ts';
import { Resampler } from '../resample.ts';
import { type ByteSource, FileBytes } from './byte-source.ts';
import type { Container } from './container.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from './errors.ts';
import { decodeFlac } from './flac-decoder.ts';
import { decodeMp3 } from './mp3-decoder.ts';
import { refuseTornMp4 } from './mp4-boxes.ts';
import { decodeOgg } from './ogg-decoder.ts';
import type { DecodeBlocks } from './pcm-block.ts';
import { decodeWebm } from './webm-decoder.ts';

/** Decoded audio is written at this rate, mono, 16 bits, little-endian. */
export const decodedRateHz = 16_000;

export interface DecodeFileOptions {
  readonly inputPath: string;
  readonly container: Container;
  /** Must not exist. */
  readonly outputPath: string;
  readonly maxSeconds: number;
}

/**
 * Decodes a compressed file into a file of samples, in small pieces. Blocks its thread.
 * @throws MediaUnreadableError, MediaNeedsFfmpegError, MediaTooLongError, or the file system's error
 */
export async function decodeFile({ inputPath, container, outputPath, maxSeconds }: DecodeFileOptions): Promise<void> {
  using source = new FileBytes(inputPath);
  const output = openSync(outputPath, 'wx', 0o600);
  const maxSamples = maxSeconds * decodedRateHz;
  let resampler: { readonly fromHz: number; readonly inner: Resampler } | undefined;
  let written = 0;
  const write = (pcm: Int16Array): void => {
    written += pcm.length;
    if (written > maxSamples) throw new MediaTooLongError(`the audio is longer than ${maxSeconds} s`);
    // All of it: a plain write may take less than it is given.
    appendFileSync(output, encodeAudio('pcm16', pcm));
  };
  try {
    for await (const { rateHz, pcm } of blocksOf(container, source)) {
      if (pcm.length === 0) continue;
      if (resampler?.fromHz !== rateHz) {
        if (resampler !== undefined) write(resampler.inner.flush());
        resampler = { fromHz: rateHz, inner: resamplerFrom(rateHz) };
      }
      write(resampler.inner.process(pcm));
    }
    if (resampler !== undefined) write(resampler.inner.flush());
  } finally {
    closeSync(output);
  }
}

function resamplerFrom(rateHz: number): Resampler {
  try {
    return new Resampler(rateHz, decodedRateHz);
  } catch (error) {
    throw new MediaUnreadableError(`audio at ${rateHz} Hz cannot be read; 1000 to 192000 Hz can`, { cause: error });
  }
}

function blocksOf(container: Container, source: ByteSource): DecodeBlocks {
  switch (container) {
    case 'mp3':
      return decodeMp3(source);
    case 'flac':
      return decodeFlac(source);
    case 'ogg':
      return decodeOgg(source);
    case 'webm':
      return decodeWebm(source);
    case 'mp4':
      refuseTornMp4(source);
      throw new MediaNeedsFfmpegError('Audio in MP4 (M4A, MOV)');
    case 'aac':
      throw new MediaNeedsFfmpegError('AAC audio');
    case 'asf':
      throw new MediaNeedsFfmpegError('Windows Media audio');
    case 'avi':
      throw new MediaNeedsFfmpegError('AVI');
    case 'wav':
      throw new MediaUnreadableError('WAV is read as it stands');
  }
}
