import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export interface PourOptions<Part> {
  /** `wx` for a file that must not exist; anything there is written over otherwise. */
  readonly flags?: 'w' | 'wx';
  /** 0o600 unless told otherwise: its owner's alone. */
  readonly mode?: number;
  /** Has the disk take it before this is done. */
  readonly flush?: boolean;
  /** What comes passes through it; it may throw. */
  readonly through?: (parts: AsyncIterable<Part>) => AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes all that comes into a file.
 * @returns how many bytes that was
 * @throws what the parts or the disk throw, or an `AbortError`. The file is closed by then: a pipeline alone can fail before
 * its file is made, and whoever removes the rest would have it appear behind his back.
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
