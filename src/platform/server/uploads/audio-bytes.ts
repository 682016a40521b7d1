import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atMost } from '../../../kernel/bounded-reading.ts';
import { pourIntoFile } from '../../../kernel/file-streams.ts';
import { temporaryPath } from '../../../kernel/temporary.ts';
import { Refusal } from '../listener/refusal.ts';

/** Uploaded bytes in a temporary file. The receiver disposes of them, which deletes the file. */
export interface AudioBytes extends AsyncDisposable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Fewer bytes than asked for only at the end. */
  read(at: number, length: number): Promise<Uint8Array>;
}

/**
 * Writes an upload to disk, so that memory does not grow with it.
 * @throws Refusal 413 when it is longer than `maxBytes`, or the upload's error; the file is deleted then
 */
export async function spoolToDisk(upload: AsyncIterable<Uint8Array>, folder: string, maxBytes: number): Promise<AudioBytes> {
  const path = await spoolPath(folder);
  try {
    await pourIntoFile(upload, path, {
      flags: 'wx',
      through: (parts) => atMost(parts, maxBytes, () => tooLarge(maxBytes)),
    });
    return await fileBytes(path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** A unique path in the folder, which is created. */
export async function spoolPath(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  return temporaryPath(join(folder, 'upload'));
}

/** @param path a file that the result owns, and deletes on disposal */
export async function fileBytes(path: string): Promise<AudioBytes> {
  const file = await open(path, 'r');
  const { size: sizeBytes } = await file.stat();
  return {
    path,
    sizeBytes,
    async read(at, length) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    },
    async [Symbol.asyncDispose]() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

export function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `The audio is larger than ${maxBytes} bytes`, { headers: { connection: 'close' } });
}
