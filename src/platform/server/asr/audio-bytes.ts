import { createWriteStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Refusal } from '../refusal.ts';

/** Uploaded bytes that can be read anywhere. Whoever got it disposes of it. */
export interface AudioBytes extends AsyncDisposable {
  readonly sizeBytes: number;
  /** Fewer bytes than asked for only at the end. */
  read(at: number, length: number): Promise<Uint8Array>;
}

export function bytesInMemory(bytes: Uint8Array): AudioBytes {
  return {
    sizeBytes: bytes.length,
    read: async (at, length) => bytes.subarray(at, at + length),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/**
 * Writes an upload to a file of its own, so that memory does not grow with it; the file is deleted on disposal.
 * @throws Refusal 413 when it is longer than `maxBytes`; nothing is left behind then
 */
export async function spoolToDisk(upload: Readable, folder: string, maxBytes: number): Promise<AudioBytes> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `upload-${randomUUID()}`);
  let sizeBytes = 0;
  try {
    await pipeline(
      upload,
      async function* count(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          sizeBytes += chunk.length;
          if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
          yield chunk;
        }
      },
      createWriteStream(path, { flags: 'wx', mode: 0o600 }),
    );
    const file = await open(path, 'r');
    return {
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
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

export function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `The audio is larger than ${maxBytes} bytes`, { headers: { connection: 'close' } });
}
