import { fetchFile, RemoteFileError, type RemoteFileOptions } from '../../../kernel/remote-file.ts';
import { Refusal } from '../listener/refusal.ts';
import { type AudioBytes, fileBytes, spoolPath, tooLarge } from './audio-bytes.ts';

export interface RemoteAudioOptions extends RemoteFileOptions {
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
