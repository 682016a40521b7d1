import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeOnce } from './make-once.ts';
import { Secret } from './secrets.ts';

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
