import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../kernel/errors.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { temporaryPath } from '../../kernel/temporary.ts';
import { ObjectStoreError } from '../errors.ts';
import { flushFolder } from '../../kernel/flush.ts';
import type { ObjectStore } from './port.ts';

/** Objects as files of one folder, readable by their owner alone. */
export function diskObjects(folder: string): ObjectStore {
  const pathOf = (key: string): string => join(folder, ...key.split('/'));
  return {
    place: folder,
    async put(key, parts) {
      const path = pathOf(key);
      const temporary = temporaryPath(path);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const file = await open(temporary, 'wx', 0o600);
        try {
          // A plain write may take less than it is given, as when the disk is nearly full, without an error.
          for await (const part of parts) await file.appendFile(part);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
        await flushFolder(dirname(path));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw new ObjectStoreError('the disk does not take an object', { cause: error, facts: { key } });
      }
    },
    async size(key) {
      try {
        return (await stat(pathOf(key))).size;
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined;
        throw new ObjectStoreError('an object cannot be looked at', { cause: error, facts: { key } });
      }
    },
    async *read(key, start, end, signal) {
      try {
        yield* readFileParts(pathOf(key), { start, end, signal });
      } catch (error) {
        throw new ObjectStoreError('an object cannot be read', { cause: error, facts: { key } });
      }
    },
    async remove(key) {
      try {
        await rm(pathOf(key), { force: true });
      } catch (error) {
        throw new ObjectStoreError('an object cannot be removed', { cause: error, facts: { key } });
      }
    },
  };
}
