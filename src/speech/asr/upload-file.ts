import type { OpenedAudio } from './audio-source.ts';

/** From here on a second copy of the body in memory matters. */
const LARGE_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

export function isLargeUpload({ blob }: OpenedAudio): boolean {
  return blob.size > LARGE_BYTES;
}

/**
 * A file that is read no faster than it is sent, and tells how far it is. The stream of the runtime's own file reads all of it
 * ahead, into memory. Its length is known beforehand, so that the request has one too.
 */
export class PacedFile extends File {
  readonly #onProgress: ((sentBytes: number, totalBytes: number) => void) | undefined;

  constructor({ blob, name }: OpenedAudio, onProgress?: (sentBytes: number, totalBytes: number) => void) {
    super([blob], name);
    this.#onProgress = onProgress;
  }

  override stream(): ReturnType<File['stream']> {
    let sent = 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          const piece = new Uint8Array(await this.slice(sent, sent + PIECE_BYTES).arrayBuffer());
          sent += piece.length;
          if (piece.length === 0) {
            controller.close();
            return;
          }
          controller.enqueue(piece);
          this.#onProgress?.(sent, this.size);
        },
      },
      { highWaterMark: 0 },
    );
  }
}
