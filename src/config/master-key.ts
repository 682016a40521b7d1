import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from './make-once.ts';
import { Secret } from './secrets.ts';

/** Where the master key of a data folder lies. */
export function masterKeyPath(dataDir: string): string {
  return join(dataDir, 'master-key');
}

/** The master key of a data folder, where it was made. @throws the file system's error */
export function readMasterKey(dataDir: string): Secret | undefined {
  const path = masterKeyPath(dataDir);
  return existsSync(path) ? new Secret(readFileSync(path, 'utf8').trim()) : undefined;
}

/**
 * The master key of a data folder, under which all calls' keys are sealed: made on first use, 32 bytes in base64, readable by its owner only. Losing
 * it means losing the words of all calls; machines that share a store must share one (`OFFHOOK_MASTER_KEY`).
 * @throws the file system's error
 */
export function ensureMasterKey(dataDir: string): Secret {
  const path = masterKeyPath(dataDir);
  mkdirSync(dataDir, { recursive: true });
  makeOnce(path, () => `${randomBytes(32).toString('base64')}\n`);
  return new Secret(readFileSync(path, 'utf8').trim());
}
