import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** Derives a key of 32 bytes for one purpose from a high-entropy secret. */
export function sealingKey(secret: string | Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), purpose, KEY_BYTES));
}

/** Encrypts with AES-256-GCM: a fresh nonce, the ciphertext, and the tag that shows any change. */
export function seal(key: Uint8Array, plain: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined for data sealed with another key, or changed since */
export function unseal(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const tagFrom = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(tagFrom));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, tagFrom)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** A hash that identifies a secret without revealing it. */
export function fingerprint(secret: string, purpose: string): string {
  return createHash('sha256').update(`${purpose}\0${secret}`).digest('hex').slice(0, 32);
}
