import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../kernel/error-code.ts';

/**
 * Removes what processes that died have left in the folder of copies that are worked on, and in its folder of uploads: plain
 * sound, of which nobody else knows. Nothing is worked on for as long as a day.
 */
export async function removeOldCopies(workFolder: string, untouchedSinceMs: number): Promise<void> {
  for (const folder of [workFolder, join(workFolder, 'uploads')]) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      const modifiedMs = await modifiedAt(path);
      if (name !== 'uploads' && modifiedMs !== undefined && modifiedMs < untouchedSinceMs)
        await rm(path, { recursive: true, force: true });
    }
  }
}

/** Undefined for what went meanwhile. */
async function modifiedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
