import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { StoreKeyError } from '../errors.ts';

const FORM = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Bytes of every key here. */
export const KEY_BYTES = 32;

/**
 * AES-256-GCM: one byte naming it, a random nonce of 12 bytes, the ciphertext, a tag of 16 bytes.
 * @param about names the value, for example `turn/default/call_1/3`: it opens only under the same name
 */
export function seal(key: Uint8Array, about: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
  return Buffer.concat([Buffer.of(FORM), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws StoreKeyError for another key or name, or changed bytes */
export function unseal(key: Uint8Array, about: string, sealed: Uint8Array): Buffer {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORM) throw new StoreKeyError('not sealed bytes');
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(about));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new StoreKeyError('sealed bytes cannot be opened with this key', { cause: error });
  }
}

export function sealJson(key: Uint8Array, about: string, value: unknown): Buffer {
  return seal(key, about, Buffer.from(JSON.stringify(value)));
}

/** @throws StoreKeyError */
export function unsealJson(key: Uint8Array, about: string, sealed: Uint8Array): unknown {
  return JSON.parse(unseal(key, about, sealed).toString('utf8'));
}
