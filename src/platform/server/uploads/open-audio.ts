import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atMost } from '../../../kernel/bounded-reading.ts';
import { pourIntoFile } from '../../../kernel/file-streams.ts';
import { temporaryPath } from '../../../kernel/temporary.ts';
import { Refusal } from '../listener/refusal.ts';
import { fetchFile, RemoteFileError, type RemoteFileOptions } from '../../../kernel/remote-file.ts';
import { mixDownInterleaved } from '../../../audio/samples.ts';
import { decodeAudio } from '../../../audio/codec.ts';
import { containerOf } from '../../../audio/media/container.ts';
import { decodedRateHz } from '../../../audio/media/decode-job.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../../../audio/errors.ts';
import type { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { decodeWavSamples, readWavLayout, WavError, type WavLayout, wavSampleBytes } from '../../../audio/wav.ts';
import type { PlatformLimits } from '../listener/limits.ts';

/** Uploaded bytes in a temporary file. The receiver disposes of them, which deletes the file. */
export interface AudioBytes extends AsyncDisposable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Fewer bytes than asked for only at the end. */
  read(at: number, length: number): Promise<Uint8Array>;
}

/**
 * Writes an upload to disk, so that memory does not grow with it.
 * @throws Refusal 413 when it is longer than `maxBytes`, or the upload's error; the file is deleted then
 */
export async function spoolToDisk(upload: AsyncIterable<Uint8Array>, folder: string, maxBytes: number): Promise<AudioBytes> {
  const path = await spoolPath(folder);
  try {
    await pourIntoFile(upload, path, {
      flags: 'wx',
      through: (parts) => atMost(parts, maxBytes, () => tooLarge(maxBytes)),
    });
    return await fileBytes(path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** A unique path in the folder, which is created. */
async function spoolPath(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  return temporaryPath(join(folder, 'upload'));
}

/** @param path a file that the result owns, and deletes on disposal */
async function fileBytes(path: string): Promise<AudioBytes> {
  const file = await open(path, 'r');
  const { size: sizeBytes } = await file.stat();
  return {
    path,
    sizeBytes,
    async read(at, length) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    },
    async [Symbol.asyncDispose]() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

export function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `The audio is larger than ${maxBytes} bytes`, { headers: { connection: 'close' } });
}

interface RemoteAudioOptions extends RemoteFileOptions {
  readonly uploadFolder: string;
}

/** Fetches audio from a URL of the client; private addresses are refused (SSRF). */
export class RemoteAudio {
  readonly #options: RemoteAudioOptions;

  constructor(options: RemoteAudioOptions) {
    this.#options = options;
  }

  /**
   * @returns the file on disk; the caller disposes of it
   * @throws Refusal 400 for a URL that is not public https, also after a redirect, and for one that gives no file within a minute; 413
   * when the file is too large; or the signal's reason
   */
  async fetch(address: string, signal: AbortSignal): Promise<AudioBytes> {
    const path = await spoolPath(this.#options.uploadFolder);
    try {
      await fetchFile(address, path, this.#options, signal);
    } catch (error) {
      if (!(error instanceof RemoteFileError)) throw error;
      if (error.kind === 'too-large') throw tooLarge(this.#options.maxBytes);
      throw new Refusal(400, `url: ${error.message}`, { cause: error.cause });
    }
    return fileBytes(path);
  }
}

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
interface OpenAudio extends DecodedAudio, AsyncDisposable {}

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
