import { appendFileSync, closeSync, openSync } from 'node:fs';
import { type ByteSource, FileBytes, type DecodeBlocks } from '../byte-source.ts';
import { MediaUnreadableError, MediaNeedsFfmpegError, MediaTooLongError } from '../errors.ts';
import { encodeAudio } from '../codec.ts';
import { Resampler } from '../resample.ts';
import type { Container } from './container.ts';
import { type DecodeJob, decodedRateHz } from './decode-job.ts';
import { decodeFlac } from '../flac/flac-decoder.ts';
import { decodeMp3 } from './mp3-decoder.ts';
import { decodeOgg } from './ogg-decoder.ts';
import { decodeWebm } from './webm-decoder.ts';

/**
 * Decodes a compressed file to a file of samples, in small pieces. Blocks its thread.
 * @throws MediaUnreadableError, MediaNeedsFfmpegError, MediaTooLongError, or the file system's error
 */
export async function decodeFile({ inputPath, container, outputPath, maxSeconds }: DecodeJob): Promise<void> {
  using source = new FileBytes(inputPath);
  const output = openSync(outputPath, 'wx', 0o600);
  const maxSamples = maxSeconds * decodedRateHz;
  let resampler: { readonly fromHz: number; readonly inner: Resampler } | undefined;
  let written = 0;
  const write = (pcm: Int16Array): void => {
    written += pcm.length;
    if (written > maxSamples) throw new MediaTooLongError(`the audio is longer than ${maxSeconds} s`);
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
      checkMp4IsWhole(source);
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

/**
 * Walks the outermost boxes of an MP4 file (ISO/IEC 14496-12, section 4.2). A file that lost its end lacks part of the last box, or
 * its index.
 * @throws MediaUnreadableError
 */
function checkMp4IsWhole(source: ByteSource): void {
  const seen = new Set<string>();
  for (let at = 0; at < source.sizeBytes;) {
    const head = Buffer.from(source.read(at, 16));
    if (head.length < 8) throw new MediaUnreadableError('the MP4 file is cut off');
    const short = head.readUInt32BE(0);
    seen.add(head.toString('latin1', 4, 8));
    // 0: the box extends to the end of the file. 1: its length is in the next eight bytes.
    const length =
      short === 0 ? source.sizeBytes - at : short === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : short;
    if (length < 8 || at + length > source.sizeBytes) throw new MediaUnreadableError('the MP4 file is cut off');
    at += length;
  }
  if (!seen.has('moov')) throw new MediaUnreadableError('the MP4 file has no index: its end is missing');
}
