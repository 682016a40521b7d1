import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
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
  const made = { twilioAuthToken: randomBytes(24).toString('hex') };
  try {
    // `wx` decides a race between two processes: the second reads what the first wrote.
    writeFileSync(path, `${JSON.stringify(made)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  chmodSync(path, 0o600);
  return readDevSecrets(dataDir);
}

/** Reads what `ensureDevSecrets` made. */
export function readDevSecrets(dataDir: string): { readonly twilioAuthToken: Secret } {
  const parsed = devSecretsFile.parse(JSON.parse(readFileSync(devSecretsPath(dataDir), 'utf8')));
  return { twilioAuthToken: new Secret(parsed.twilioAuthToken) };
}
