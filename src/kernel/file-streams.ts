import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export interface ReadFileOptions {
  /** First byte. */
  readonly start?: number;
  /** The byte after the last; the file's end when absent. */
  readonly end?: number;
  /** Largest part, in bytes; 64 KiB when absent. */
  readonly partBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a file in parts. The file is opened with the first read: an error of a stream without a listener would end the process.
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

export interface PourOptions<Part> {
  /** `wx` for a file that must not exist; anything there is written over otherwise. */
  readonly flags?: 'w' | 'wx';
  /** 0o600 unless told otherwise: its owner's alone. */
  readonly mode?: number;
  /** Flushes the file to disk. */
  readonly flush?: boolean;
  /** Transforms the parts; may throw. */
  readonly through?: (parts: AsyncIterable<Part>) => AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a stream of parts into a file.
 * @returns the number of bytes
 * @throws errors of the parts or the disk, or an `AbortError`; the file is closed by then. (A pipeline can fail before its file
 * exists, which would then appear after a clean-up.)
 */
export async function pourIntoFile<Part extends Uint8Array | string>(
  parts: AsyncIterable<Part>,
  path: string,
  { flags = 'w', mode = 0o600, flush = false, through, signal }: PourOptions<Part> = {},
): Promise<number> {
  const file = createWriteStream(path, { flags, mode, flush });
  const closed = new Promise<void>((resolve) => file.once('close', resolve));
  try {
    await (through === undefined ? pipeline(parts, file, { signal }) : pipeline(parts, through, file, { signal }));
  } finally {
    await closed;
  }
  return file.bytesWritten;
}
