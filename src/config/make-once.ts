import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import { hasCode } from '../kernel/errors.ts';

/**
 * Makes a secret's file, readable by its owner alone; one that is there stays as it is. It appears whole or not at all:
 * neither a process that is faster nor a full disk leaves an empty one to be read.
 * @throws the file system's error
 */
export function makeOnce(path: string, text: () => string): void {
  if (!existsSync(path)) {
    const fresh = `${path}.${randomUUID()}.new`;
    try {
      writeFileSync(fresh, text(), { mode: 0o600, flag: 'wx', flush: true });
      // Unlike a rename, this never replaces what another process has made meanwhile.
      linkSync(fresh, path);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    } finally {
      rmSync(fresh, { force: true });
    }
  }
  chmodSync(path, 0o600);
}
