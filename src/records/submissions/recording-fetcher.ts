import { createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { fetchFile, RemoteFileError } from '../../kernel/remote-file.ts';
import { RecordingFetchError, RecordingRefusedError } from '../errors.ts';

/** A recording on this disk. A copy that was fetched goes with disposal. */
export interface LocalRecording extends AsyncDisposable {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** A WAV ends at 4 GB, and nothing else of that size is taken. */
export const MOST_RECORDING_BYTES = 0xffff_ffff;

export interface RecordingFetcherOptions {
  readonly clock: Clock;
  /** Hosts that may be private or without TLS. */
  readonly audioHosts: readonly string[];
}

/** Gets recordings onto this disk: files where they are, copies of what addresses name, from public hosts alone. */
export class RecordingFetcher {
  readonly #options: RecordingFetcherOptions;
  #copies = 0;

  constructor(options: RecordingFetcherOptions) {
    this.#options = options;
  }

  /**
   * @param folder where the copy is made
   * @throws RecordingFetchError; the signal's reason when aborted
   */
  fromUrl(url: string, folder: string, signal: AbortSignal): Promise<LocalRecording> {
    const { clock, audioHosts: allowedHosts } = this.#options;
    const name = URL.canParse(url) ? new URL(url).pathname : '';
    const limits = { clock, allowedHosts, maxBytes: MOST_RECORDING_BYTES };
    return this.copied(name, folder, signal, async (path) => {
      try {
        await fetchFile(url, path, limits, signal);
      } catch (error) {
        if (!(error instanceof RemoteFileError)) throw error;
        throw new RecordingFetchError(error.message, error.kind === 'unreachable', error);
      }
    });
  }

  /**
   * @param path a file that stays
   * @throws RecordingRefusedError when it cannot be read; the signal's reason when aborted
   */
  fromFile(path: string, signal: AbortSignal): Promise<LocalRecording> {
    return localRecording(path, async () => {}, signal);
  }

  /** Has a copy made, under a name that says what it is: the medical service goes by it. */
  async copied(
    name: string,
    folder: string,
    signal: AbortSignal,
    copyTo: (path: string) => Promise<void>,
  ): Promise<LocalRecording> {
    this.#copies += 1;
    const safeName = basename(name)
      .replaceAll(/[^\w.-]/gu, '_')
      .slice(-80);
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${this.#copies}-${safeName || 'audio'}`);
    const remove = (): Promise<void> => rm(path, { force: true });
    try {
      await copyTo(path);
      return await localRecording(path, remove, signal);
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

async function localRecording(path: string, dispose: () => Promise<void>, signal: AbortSignal): Promise<LocalRecording> {
  const facts = await stat(path).catch((error: unknown): never => {
    throw new RecordingRefusedError('missing', `the file cannot be read: ${errorText(error)}`, error);
  });
  const hash = createHash('sha256');
  for await (const part of readFileParts(path, { signal, partBytes: 1024 * 1024 })) hash.update(part);
  return { path, sha256: hash.digest('hex'), bytes: facts.size, [Symbol.asyncDispose]: dispose };
}
