import { type ApiKeyFile, apiKeyHash, apiKeyId } from '../../keys/key-file.ts';

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

/** The keys that this platform knows, by hash: the secrets themselves are not kept. */
export class ApiKeys {
  readonly #byHash = new Map<string, ApiKey>();
  readonly #file: ApiKeyFile | undefined;

  /** @param file more keys, which come and go while the platform runs */
  constructor(entries: readonly ApiKeyEntry[], file?: ApiKeyFile) {
    this.#file = file;
    for (const { secret, status } of entries) {
      const hash = apiKeyHash(secret);
      this.#byHash.set(hash, { id: apiKeyId(hash), status: status ?? 'active' });
    }
  }

  /**
   * Looks up by hash, so the time taken tells nothing of a near miss.
   * @throws ApiKeyFileError when the file of keys is damaged
   */
  find(secret: string): ApiKey | undefined {
    const hash = apiKeyHash(secret);
    const given = this.#byHash.get(hash);
    if (given !== undefined) return given;
    const record = this.#file?.records().find((kept) => kept.hash === hash);
    if (record === undefined) return undefined;
    if (record.revokedAt !== null) return { id: record.id, status: 'revoked' };
    return { id: record.id, status: record.hasBalance ? 'active' : 'no-balance' };
  }
}
