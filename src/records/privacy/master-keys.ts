import { createHash, randomBytes } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';
import { MasterKeyError, StoreKeyError } from '../errors.ts';
import { KEY_BYTES, seal, unseal } from './seal.ts';

const NAME_BYTES = 8;

/** Seals the keys of calls and tenants. During a rotation there are several: the first seals, any of them opens. */
export class MasterKeys {
  readonly #keys: readonly { readonly name: Buffer; readonly key: Buffer }[];

  /**
   * @param secrets each 32 bytes, in base64
   * @throws StoreKeyError without a secret, or for an invalid one
   */
  constructor(secrets: readonly Secret[]) {
    this.#keys = secrets.map((secret) => {
      const key = Buffer.from(secret.reveal(), 'base64');
      if (key.length !== KEY_BYTES) throw new StoreKeyError('a master key is 32 bytes in base64');
      return { key, name: createHash('sha256').update('offhook master key').update(key).digest().subarray(0, NAME_BYTES) };
    });
    if (this.#keys.length === 0) throw new StoreKeyError('there is no master key');
  }

  /** @returns a new random key and its storable form: the master's name, then the sealed key */
  make(about: string): { readonly key: Buffer; readonly wrapped: Buffer } {
    const key = randomBytes(KEY_BYTES);
    return { key, wrapped: this.wrap(about, key) };
  }

  /** The storable form of a key, sealed under the first master key. */
  wrap(about: string, key: Uint8Array): Buffer {
    const [first] = this.#keys;
    if (first === undefined) throw new TypeError('there is a master key');
    return Buffer.concat([first.name, seal(first.key, about, key)]);
  }

  /** Whether the first master key sealed it. */
  isOfFirst(wrapped: Uint8Array): boolean {
    return this.#keys[0]?.name.equals(wrapped.subarray(0, NAME_BYTES)) === true;
  }

  /** @throws MasterKeyError when another master key sealed it; StoreKeyError when it is damaged, or for another purpose */
  unwrap(about: string, wrapped: Uint8Array): Buffer {
    const name = wrapped.subarray(0, NAME_BYTES);
    const master = this.#keys.find((candidate) => candidate.name.equals(name));
    if (master === undefined) throw new MasterKeyError('a key was sealed under a master key that this process does not have');
    return unseal(master.key, about, wrapped.subarray(NAME_BYTES));
  }
}
