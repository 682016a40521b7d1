import { createHash, randomBytes } from 'node:crypto';

export type KeyStatus = 'active' | 'revoked' | 'no-balance';

export interface ApiKeyEntry {
  readonly secret: string;
  readonly status?: KeyStatus;
}

export interface ApiKey {
  /** Safe to log and to put into a token: says nothing of the secret. */
  readonly id: string;
  readonly status: KeyStatus;
}

/** A new secret, 256 random bits; `ofk_` tells it from a token at sight. */
export function newApiKey(): string {
  return `ofk_${randomBytes(32).toString('base64url')}`;
}

/** The keys that this platform knows, by hash: the secrets themselves are not kept. */
export class ApiKeys {
  readonly #byHash = new Map<string, ApiKey>();

  constructor(entries: readonly ApiKeyEntry[]) {
    for (const { secret, status } of entries) {
      const hash = hashOf(secret);
      this.#byHash.set(hash, { id: `key_${hash.slice(0, 16)}`, status: status ?? 'active' });
    }
  }

  /** Looks up by hash, so the time taken tells nothing of a near miss. */
  find(secret: string): ApiKey | undefined {
    return this.#byHash.get(hashOf(secret));
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
