import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const windowBytes = 64 * 1024;

/** Random access to bytes, in a file or in memory. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** @returns a view that is valid until the next call; shorter than asked for only at the end */
  read(at: number, length: number): Uint8Array;
}

/** Bytes in memory. */
export function bytesInMemory(bytes: Uint8Array): ByteSource {
  return { sizeBytes: bytes.length, read: (at, length) => bytes.subarray(at, at + length) };
}

/** A file, read synchronously through a window of 64 KiB: for worker threads only. */
export class FileBytes implements ByteSource, Disposable {
  readonly sizeBytes: number;
  readonly #file: number;
  #window: Uint8Array = new Uint8Array(0);
  #windowAt = 0;

  /** @throws the file system's error */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.sizeBytes = fstatSync(this.#file).size;
  }

  read(at: number, length: number): Uint8Array {
    const start = at - this.#windowAt;
    if (start < 0 || start + length > this.#window.length) {
      const wanted = Math.max(0, Math.min(Math.max(length, windowBytes), this.sizeBytes - at));
      const fresh = new Uint8Array(wanted);
      const got = wanted === 0 ? 0 : readSync(this.#file, fresh, 0, wanted, at);
      this.#window = fresh.subarray(0, got);
      this.#windowAt = at;
      return this.#window.subarray(0, length);
    }
    return this.#window.subarray(start, start + length);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Decoded audio, mono. */
export interface PcmBlock {
  readonly rateHz: number;
  readonly pcm: Int16Array;
}

/** A compressed file decoded from start to end. Iterating throws MediaUnreadableError and MediaNeedsFfmpegError. */
export type DecodeBlocks = AsyncIterable<PcmBlock>;
