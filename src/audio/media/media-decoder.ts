import { rm } from 'node:fs/promises';
import { startWorker } from '../../kernel/entry-file.ts';
import { type DecodeJob, type DecodeResult, decodeResultSchema } from './decode-job.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../errors.ts';
import { decodeWithFfmpeg, hasFfmpeg } from './ffmpeg.ts';

/** Files decoded at once; a thread takes some 40 MB. Further files wait. */
const atOnce = 2;
/** Longest compressed audio decoded without `ffmpeg`. */
const maxOwnSeconds = 30 * 60;

export interface MediaDecoderOptions {
  /** The name or path of the system's ffmpeg. */
  readonly ffmpeg?: string;
  readonly maxOwnSeconds?: number;
}

/** Decodes compressed files off the event loop: MP3, FLAC, Ogg and WebM in threads, other formats with a system `ffmpeg`. */
export class MediaDecoder {
  readonly #ffmpeg: string;
  readonly #maxOwnSeconds: number;
  #ffmpegFound = false;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: MediaDecoderOptions = {}) {
    this.#ffmpeg = options.ffmpeg ?? 'ffmpeg';
    this.#maxOwnSeconds = options.maxOwnSeconds ?? maxOwnSeconds;
  }

  /**
   * Writes the decoded audio to `outputPath` (see `decodedRateHz`); deletes it when it throws.
   * @throws MediaUnreadableError, MediaNeedsFfmpegError when `ffmpeg` is missing, MediaTooLongError for more than `maxSeconds`, the
   * file system's error, or the signal's reason
   */
  async decode(options: DecodeJob, signal: AbortSignal): Promise<void> {
    await this.#turn(signal);
    try {
      await this.#decode(options, signal);
    } catch (error) {
      await rm(options.outputPath, { force: true });
      throw error;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #decode(options: DecodeJob, signal: AbortSignal): Promise<void> {
    const ownSeconds = Math.min(this.#maxOwnSeconds, options.maxSeconds);
    const result = await decodeInThread({ ...options, maxSeconds: ownSeconds }, signal);
    switch (result.type) {
      case 'decoded':
        return;
      case 'unreadable':
        throw new MediaUnreadableError(result.reason, {
          cause: result.cause === undefined ? undefined : new Error(result.cause),
        });
      case 'failed':
        throw new Error(result.reason);
      case 'too-long':
        if (ownSeconds === options.maxSeconds) throw new MediaTooLongError(result.reason);
        if (!(await this.#ffmpegThere())) {
          throw new MediaNeedsFfmpegError(`compressed audio over ${ownSeconds / 60} minutes`, { facts: { limit: ownSeconds } });
        }
        break;
      case 'needs-ffmpeg':
        if (!(await this.#ffmpegThere())) throw new MediaNeedsFfmpegError(result.reason);
        break;
    }
    await rm(options.outputPath, { force: true });
    await decodeWithFfmpeg(this.#ffmpeg, options, signal);
  }

  /** Looks again while `ffmpeg` is missing, so that installing it needs no restart. */
  async #ffmpegThere(): Promise<boolean> {
    this.#ffmpegFound ||= await hasFfmpeg(this.#ffmpeg);
    return this.#ffmpegFound;
  }

  async #turn(signal: AbortSignal): Promise<void> {
    while (this.#running >= atOnce && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          signal.removeEventListener('abort', go);
          const place = this.#waiting.indexOf(go);
          if (place !== -1) this.#waiting.splice(place, 1);
          resolve();
        };
        signal.addEventListener('abort', go, { once: true });
        this.#waiting.push(go);
      });
    }
    if (signal.aborted) {
      // This caller may have been given the free place already: pass it on.
      this.#waiting.shift()?.();
      throw signal.reason as Error;
    }
    this.#running += 1;
  }
}

async function decodeInThread(options: DecodeJob, signal: AbortSignal): Promise<DecodeResult> {
  const worker = startWorker(import.meta.url, 'decode-worker', options);
  const result = new Promise<DecodeResult>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (message: unknown) => resolve(decodeResultSchema.parse(message)));
    // A decoder that crashes is blamed on the file.
    worker.once('error', () => resolve({ type: 'unreadable', reason: 'the decoder failed' }));
    worker.once('exit', () => {
      signal.removeEventListener('abort', onAbort);
      resolve({ type: 'unreadable', reason: 'the decoder stopped' });
    });
  });
  try {
    return await result;
  } finally {
    await worker.terminate();
  }
}
