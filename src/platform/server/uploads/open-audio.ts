import { mixDownInterleaved } from '../../../audio/samples.ts';
import { decodeAudio } from '../../../audio/codec.ts';
import { containerOf } from '../../../audio/media/container.ts';
import { decodedRateHz } from '../../../audio/media/decode-file.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../../../audio/errors.ts';
import type { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { decodeWavSamples, readWavLayout, WavError, type WavLayout, wavSampleBytes } from '../../../audio/wav.ts';
import type { PlatformLimits } from '../listener/limits.ts';
import { Refusal } from '../listener/refusal.ts';
import { type AudioBytes, fileBytes, spoolPath } from './audio-bytes.ts';
import type { RemoteAudio } from './remote-audio.ts';

/** What services need to accept audio. */
export interface AudioIntake {
  readonly limits: PlatformLimits;
  /** Folder for uploads while they are processed. */
  readonly uploadFolder: string;
  readonly media: MediaDecoder;
  readonly remote: RemoteAudio;
}

export interface DecodedAudio {
  readonly rateHz: number;
  readonly durationSeconds: number;
  /** Mono, oldest first; memory does not grow with the length of the file. */
  blocks(): AsyncIterable<Int16Array>;
}

/** The receiver disposes of it, before the bytes it was opened from. */
export interface OpenAudio extends DecodedAudio, AsyncDisposable {}

/**
 * Opens uploaded audio of any container, told by its content. WAV is read directly, other formats are decoded to disk.
 * @throws Refusal 415 for audio that cannot be decoded, 413 for compressed audio too long to be decoded without ffmpeg, 400 for audio
 * longer than the limit; or the signal's reason
 */
export async function openAudio(bytes: AudioBytes, intake: AudioIntake, signal: AbortSignal): Promise<OpenAudio> {
  const { audioSeconds } = intake.limits;
  const container = containerOf(await bytes.read(0, 16));
  if (container === undefined || container === 'wav') {
    const audio = await openWav(bytes);
    if (audio.durationSeconds > audioSeconds) throw tooLong(audioSeconds);
    return { ...audio, [Symbol.asyncDispose]: async () => undefined };
  }
  const outputPath = await spoolPath(intake.uploadFolder);
  try {
    await intake.media.decode({ inputPath: bytes.path, container, outputPath, maxSeconds: audioSeconds }, signal);
  } catch (error) {
    throw refusalOf(error, audioSeconds);
  }
  const decoded = await fileBytes(outputPath);
  if (decoded.sizeBytes === 0) {
    await decoded[Symbol.asyncDispose]();
    throw new Refusal(415, 'The audio holds no samples');
  }
  return samplesOf(decoded);
}

function samplesOf(decoded: AudioBytes): OpenAudio {
  const blockBytes = 64 * 1024;
  return {
    rateHz: decodedRateHz,
    durationSeconds: decoded.sizeBytes / 2 / decodedRateHz,
    async *blocks() {
      for (let at = 0; at < decoded.sizeBytes; at += blockBytes) {
        yield decodeAudio('pcm16', await decoded.read(at, blockBytes));
      }
    },
    [Symbol.asyncDispose]: () => decoded[Symbol.asyncDispose](),
  };
}

function tooLong(seconds: number): Refusal {
  return new Refusal(400, `The audio is longer than ${seconds} s`);
}

/** Formats decoded without ffmpeg. */
const plainFormats = 'WAV, MP3, FLAC, Ogg, or WebM with Opus or Vorbis';

function refusalOf(error: unknown, maxSeconds: number): unknown {
  if (error instanceof MediaTooLongError) return tooLong(maxSeconds);
  if (error instanceof MediaNeedsFfmpegError) {
    // ASR doc, errors: 413 is for too much audio, 415 for audio that cannot be decoded.
    const status = error.facts['limit'] === undefined ? 415 : 413;
    const missing = `the platform's machine does not have it. Install it there (Debian: apt-get install ffmpeg), or send ${plainFormats}`;
    return new Refusal(status, `${error.message} is decoded by the program ffmpeg, and ${missing}`, { cause: error });
  }
  if (error instanceof MediaUnreadableError) {
    return new Refusal(415, `The audio could not be decoded: ${error.message}`, { cause: error });
  }
  return error;
}

/** Enough for all chunks before the samples. */
const headBytes = 256 * 1024;
/** Frames (one sample of each channel) decoded at once. */
const blockFrames = 32_768;

/**
 * Opens an uploaded WAV file for reading.
 * @throws Refusal 415 when it cannot be decoded, with what was found
 */
async function openWav(bytes: AudioBytes): Promise<DecodedAudio> {
  const head = await bytes.read(0, Math.min(headBytes, bytes.sizeBytes));
  const layout = layoutOf(head, bytes.sizeBytes);
  refuseTruncated(head, bytes.sizeBytes);
  const frameBytes = wavSampleBytes(layout.format) * layout.channels;
  const frames = Math.floor(layout.dataBytes / frameBytes);
  if (frames === 0) throw new Refusal(415, 'The audio holds no samples');
  return {
    rateHz: layout.rateHz,
    durationSeconds: frames / layout.rateHz,
    async *blocks() {
      for (let frame = 0; frame < frames; frame += blockFrames) {
        const count = Math.min(blockFrames, frames - frame);
        const block = await bytes.read(layout.dataOffset + frame * frameBytes, count * frameBytes);
        yield mixDownInterleaved(decodeWavSamples(layout.format, block), layout.channels);
      }
    },
  };
}

function layoutOf(head: Uint8Array, sizeBytes: number): WavLayout {
  try {
    return readWavLayout(head, sizeBytes);
  } catch (error) {
    if (!(error instanceof WavError)) throw error;
    throw new Refusal(415, `The audio could not be decoded: ${error.message}`, { cause: error });
  }
}

/** Refuses a file that is shorter than its header says; 0 and the largest numbers mean "unknown". */
function refuseTruncated(head: Uint8Array, sizeBytes: number): void {
  const said = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(4, true) + 8;
  if (said > sizeBytes + 1 && said < 0x7fff_0000) {
    throw new Refusal(415, `The audio could not be decoded: the file ends after ${sizeBytes} of ${said} bytes`);
  }
}
