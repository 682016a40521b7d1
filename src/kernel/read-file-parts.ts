import { createReadStream } from 'node:fs';

export interface ReadFileOptions {
  /** First byte. */
  readonly start?: number;
  /** The byte after the last; the file's end when absent. */
  readonly end?: number;
  /** Largest part, in bytes; 64 KiB unless told otherwise. */
  readonly partBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a file part by part. The file is opened when the first part is asked for: the error of a stream that nobody listens to
 * yet, as of a file that was removed meanwhile, would end the process.
 * @throws the file system's error, or an `AbortError`
 */
export async function* readFileParts(path: string, options: ReadFileOptions = {}): AsyncGenerator<Buffer, void, undefined> {
  const { start = 0, end = Number.POSITIVE_INFINITY, partBytes = 65_536, signal } = options;
  if (end <= start) return;
  const stream = createReadStream(path, {
    start,
    end: end - 1,
    highWaterMark: partBytes,
    ...(signal === undefined ? {} : { signal }),
  });
  for await (const part of stream) yield part as Buffer;
}
