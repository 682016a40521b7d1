import {
  type LocalRecording,
  MOST_RECORDING_BYTES,
  RecordingFetcher,
  type RecordingFetcherOptions,
} from '../../records/submissions/recording-fetcher.ts';
import type { Item } from './items.ts';
import type { S3Source } from './s3-source.ts';

export interface ItemFetcherOptions extends RecordingFetcherOptions {
  readonly s3: S3Source;
  /** Folder for fetched copies. */
  readonly workFolder: string;
}

/** Fetches recordings: local files in place, others as a copy on this disk, URLs only from public hosts. */
export class ItemFetcher {
  readonly #options: ItemFetcherOptions;
  readonly #recordings: RecordingFetcher;

  constructor(options: ItemFetcherOptions) {
    this.#options = options;
    this.#recordings = new RecordingFetcher(options);
  }

  /** @throws RecordingFetchError, RecordingRefusedError; the signal's reason when aborted */
  async fetch({ place, name }: Item, signal: AbortSignal): Promise<LocalRecording> {
    const { s3, workFolder } = this.#options;
    switch (place.kind) {
      case 'file':
        return this.#recordings.fromFile(place.path, signal);
      case 'url':
        return this.#recordings.fromUrl(place.url, workFolder, signal);
      case 's3':
        return this.#recordings.copied(name, workFolder, signal, (path) =>
          s3.download(place, path, MOST_RECORDING_BYTES, signal),
        );
    }
  }
}
