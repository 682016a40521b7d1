import { fetchFile, RemoteFileError, type RemoteFileOptions } from '../../../kernel/remote-file.ts';
import { Refusal } from '../listener/refusal.ts';
import { type AudioBytes, fileBytes, spoolPath, tooLarge } from './audio-bytes.ts';

export interface RemoteAudioOptions extends RemoteFileOptions {
  readonly uploadFolder: string;
}

/** Fetches the audio that a client names by its address, and nothing from inside our own network. */
export class RemoteAudio {
  readonly #options: RemoteAudioOptions;

  constructor(options: RemoteAudioOptions) {
    this.#options = options;
  }

  /**
   * @returns what was fetched, on disk; the caller's to dispose of
   * @throws Refusal 400 for an address that is no public https one, itself or by way of a redirect, and for one that gives no
   * file within a minute; 413 when the file is larger than allowed; or the signal's reason
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
