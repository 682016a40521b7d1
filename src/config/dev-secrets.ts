import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeOnce } from './make-once.ts';
import { Secret } from './secrets.ts';

const devSecretsFile = z.object({ twilioAuthToken: z.string().min(32) });

/** Where the development secret lies; a simulated carrier on the same machine reads it from there. */
export function devSecretsPath(dataDir: string): string {
  return join(dataDir, 'dev-secrets.json');
}

/**
 * The development secret of a machine without a carrier account: made on first use, readable by its owner alone.
 * Whoever accepts it must do so from loopback only.
 * @throws the file system's error, and a zod error when the file holds something else
 */
export function ensureDevSecrets(dataDir: string): { readonly twilioAuthToken: Secret } {
  const path = devSecretsPath(dataDir);
  mkdirSync(dataDir, { recursive: true });
  makeOnce(path, () => `${JSON.stringify({ twilioAuthToken: randomBytes(24).toString('hex') })}\n`);
  return readDevSecrets(dataDir);
}

/** Reads what `ensureDevSecrets` made. */
export function readDevSecrets(dataDir: string): { readonly twilioAuthToken: Secret } {
  const parsed = devSecretsFile.parse(JSON.parse(readFileSync(devSecretsPath(dataDir), 'utf8')));
  return { twilioAuthToken: new Secret(parsed.twilioAuthToken) };
}
