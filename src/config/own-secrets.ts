import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../kernel/errors.ts';
import { Secret } from './secrets.ts';

/* Secrets that a gateway makes for itself, once, in its data folder. */

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

const devSecretsFile = z.record(z.string(), z.string().min(32));

/** Where the development secrets lie; a simulated carrier on the same machine reads them from there. */
export function devSecretsPath(dataDir: string): string {
  return join(dataDir, 'dev-secrets.json');
}

/**
 * The development secret of a carrier on a machine without an account there: made on first use, readable by its owner only. Must only be accepted
 * from loopback.
 * @param secret name of the proving secret, for example `authToken`
 * @throws the file system's error, and a zod error for a file with other content
 */
export function ensureDevSecret(dataDir: string, carrier: string, secret: string): Secret {
  mkdirSync(dataDir, { recursive: true });
  const fresh = { [nameOf(carrier, secret)]: randomBytes(24).toString('hex') };
  makeOnce(devSecretsPath(dataDir), () => `${JSON.stringify(fresh)}\n`);
  return readDevSecret(dataDir, carrier, secret);
}

/** Reads what `ensureDevSecret` made. */
export function readDevSecret(dataDir: string, carrier: string, secret: string): Secret {
  const kept = devSecretsFile.parse(JSON.parse(readFileSync(devSecretsPath(dataDir), 'utf8')));
  const name = nameOf(carrier, secret);
  const [seed] = Object.values(kept);
  // Written once, so that no two processes change it: of a carrier that is not in it, the secret follows from what is.
  const value = kept[name] ?? (seed === undefined ? undefined : createHmac('sha256', seed).update(name).digest('hex'));
  if (value === undefined) throw new Error(`${devSecretsPath(dataDir)} holds no secret; remove it to have one made`);
  return new Secret(value);
}

function nameOf(carrier: string, secret: string): string {
  return `${carrier}${secret.charAt(0).toUpperCase()}${secret.slice(1)}`;
}
