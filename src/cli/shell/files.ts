import { existsSync, readFileSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../kernel/errors.ts';
import { pourIntoFile } from '../../kernel/file-streams.ts';
import { UsageError } from './output.ts';

/** The content of a file, or of stdin for `-`. @throws UsageError when there is no such file */
export async function readInput(path: string): Promise<Uint8Array> {
  if (path === '-') return buffer(process.stdin);
  requireFile(path);
  return readFile(path);
}

/** @throws UsageError for a file that cannot be read */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${errorText(error)}`);
  }
}

/** @throws UsageError when there is no such file */
export function requireFile(path: string): void {
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`);
}

/** Checks an output path before anything is charged. @throws UsageError when its folder does not exist */
export function requireFolderOf(path: string): void {
  const folder = dirname(path);
  if (path !== '-' && !existsSync(folder)) throw new UsageError(`there is no folder ${folder} for ${basename(path)}`);
}

/**
 * Writes parts as they come, to stdout for `-`. A file gets its name when it is complete; a failed write leaves no file.
 * @returns the number of bytes
 */
export async function writeOutput(
  path: string,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<number> {
  let bytes = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const part of parts) {
      bytes += part.length;
      onBytes(bytes);
      yield part;
    }
  }
  if (path === '-') {
    // Not ended: later output goes there too.
    await pipeline(counted, process.stdout, { end: false });
    return bytes;
  }
  const temporary = `${path}.part`;
  try {
    await pourIntoFile(counted(), temporary, { mode: 0o666 });
    await rename(temporary, path);
    return bytes;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
