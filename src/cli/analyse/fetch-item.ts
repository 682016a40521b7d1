import { createHash } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RecordingFetcher } from '../../jobs/submissions/analyse-submitted.ts';
import { S3Source } from './s3-source.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { RecordingRefusedError } from '../../jobs/analysis/errors.ts';
import { RemoteAudio } from '../../platform/server/uploads/remote-audio.ts';
import { Refusal } from '../../platform/server/listener/refusal.ts';
import { FetchError, type Item } from './items.ts';

/** A recording on this disk. A copy that was fetched goes with disposal. */
export interface LocalRecording extends AsyncDisposable {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface FetchOptions {
  readonly clock: Clock;
  readonly s3: S3Source;
  /** Where fetched copies lie meanwhile. */
  readonly workFolder: string;
  /** Hosts that may be private or without TLS. */
  readonly audioHosts: readonly string[];
}

/** A WAV ends at 4 GB, and nothing else of that size is taken. */
const MOST_BYTES = 0xffff_ffff;

/** Gets the content of items: files where they are, the others copied to this disk, addresses only from public hosts. */
export class ItemFetcher {
  readonly #options: FetchOptions;
  readonly #remote: RemoteAudio;
  #copies = 0;

  constructor(options: FetchOptions) {
    this.#options = options;
    const { clock, workFolder: uploadFolder, audioHosts: allowedHosts } = options;
    this.#remote = new RemoteAudio({ clock, maxBytes: MOST_BYTES, uploadFolder, allowedHosts });
  }

  /**
   * @param folder where a copy is made; the work folder when absent
   * @throws FetchError, RecordingRefusedError; the signal's reason when aborted
   */
  async fetch({ place, name }: Item, signal: AbortSignal, folder = this.#options.workFolder): Promise<LocalRecording> {
    switch (place.kind) {
      case 'file':
        return localRecording(place.path, async () => {}, signal);
      case 'url':
        return this.#fromUrl(place.url, folder, signal);
      case 's3': {
        const path = this.#copyOf(folder, name);
        const remove = (): Promise<void> => rm(path, { force: true });
        try {
          await this.#options.s3.download(place, path, MOST_BYTES, signal);
          return await localRecording(path, remove, signal);
        } catch (error) {
          await remove();
          throw error;
        }
      }
    }
  }

  async #fromUrl(url: string, folder: string, signal: AbortSignal): Promise<LocalRecording> {
    try {
      await using fetched = await this.#remote.fetch(url, signal);
      // With a name that says what it is: the medical service goes by it.
      const path = this.#copyOf(folder, new URL(url).pathname);
      await rename(fetched.path, path);
      return await localRecording(path, () => rm(path, { force: true }), signal);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // With a cause it was the network: the address itself may be had later.
      throw new FetchError(errorText(error).replace(/^url: /u, ''), error.cause !== undefined, error);
    }
  }

  #copyOf(folder: string, name: string): string {
    this.#copies += 1;
    return join(
      folder,
      `${this.#copies}-${
        basename(name)
          .replaceAll(/[^\w.-]/gu, '_')
          .slice(-80) || 'audio'
      }`,
    );
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

/** Fetches submitted recordings as `offhook analyse` does, behind the same guard; never from buckets, whose keys are the operator's alone. */
export function recordingFetcher(options: Omit<FetchOptions, 's3'>): RecordingFetcher {
  const items = new ItemFetcher({ ...options, s3: new S3Source({}, options.clock) });
  const unnamed = { version: undefined, recordedAtMs: undefined, metadata: {} };
  return {
    fromUrl: (url, folder, signal) => items.fetch({ ...unnamed, name: url, place: { kind: 'url', url } }, signal, folder),
    fromFile: (path, signal) => items.fetch({ ...unnamed, name: path, place: { kind: 'file', path } }, signal),
  };
}
