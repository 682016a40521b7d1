import { exportPKCS8, generateKeyPair, importPKCS8, importSPKI, type CryptoKey } from 'jose';
import { createPublicKey, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../../kernel/errors.ts';

/**
 * The RS256 key pair in a file (PKCS #8, PEM, readable by its owner only), created when missing. Tokens stay valid over restarts.
 * @throws the file system's error, or jose's for an invalid key
 */
export async function signingKeysIn(path: string): Promise<SigningKeys> {
  const pem = (await readIfThere(path)) ?? (await make(path));
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  return { privateKey: await importPKCS8(pem, 'RS256'), publicKey: await importSPKI(publicPem, 'RS256', { extractable: true }) };
}

async function make(path: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(fresh, await exportPKCS8(privateKey), { mode: 0o600, flag: 'wx' });
  try {
    // Unlike a rename, a link never replaces the key of a faster process.
    await link(fresh, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(fresh, { force: true });
  }
  return readFile(path, 'utf8');
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export interface SigningKeys {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** Generates an RS256 key pair, in some hundred milliseconds of CPU. */
export async function newSigningKeys(): Promise<SigningKeys> {
  return generateKeyPair('RS256');
}
