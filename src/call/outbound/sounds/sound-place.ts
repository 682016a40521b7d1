import { open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { SoundError } from './port.ts';

/** Largest sound, on disk or from a server. */
export const MOST_FILE_BYTES = 20 * 1024 * 1024;

/** Longest sound; a longer one is made by repetition. */
export const MOST_SECONDS = 300;

export interface SoundPlace {
  readonly path: string;
  /** Changes with the file. */
  readonly version: string;
}

/**
 * Finds a file in a bot's folder, resolving links.
 * @throws SoundError when it is missing, not a file, too large, or outside the folder
 */
export async function findSound(folder: string, name: string): Promise<SoundPlace> {
  try {
    const home = await realpath(folder);
    const path = await realpath(resolve(home, name));
    const inside = relative(home, path);
    if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
      throw new SoundError("the sound is not in the bot's folder");
    }
    const found = await stat(path);
    const { size, mtimeMs } = found;
    if (!found.isFile()) throw new SoundError('the sound is no file');
    if (size > MOST_FILE_BYTES) throw new SoundError(`the sound is larger than ${MOST_FILE_BYTES} bytes`);
    return { path, version: `${mtimeMs}.${size}` };
  } catch (error) {
    if (error instanceof SoundError) throw error;
    throw new SoundError("the sound is not in the bot's folder", { cause: error });
  }
}

/** @throws SoundError when it has grown too large, and the file system's errors */
export async function readSound({ path }: SoundPlace): Promise<Uint8Array> {
  await using file = await open(path, 'r');
  const bytes = await file.readFile();
  if (bytes.length > MOST_FILE_BYTES) throw new SoundError(`the sound is larger than ${MOST_FILE_BYTES} bytes`);
  return bytes;
}
