import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errorText, OffhookError } from '../../kernel/errors.ts';

/** The file of API keys cannot be used, or does not hold the key that was named. */
export class ApiKeyFileError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_KEYS';
  readonly retryable = false;
}

const recordSchema = z.object({
  id: z.string().min(1),
  /** The secret's first letters, for people to tell keys apart. */
  prefix: z.string(),
  /** SHA-256 of the secret in hex: a secret of 256 random bits needs no slow hash. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** ISO 8601. */
  createdAt: z.string(),
  /** ISO 8601; null while the key is in force. */
  revokedAt: z.string().nullable(),
  /** False makes the token service answer 403, as for an account without balance. */
  hasBalance: z.boolean(),
});

export type ApiKeyRecord = z.infer<typeof recordSchema>;

const fileSchema = z.object({ keys: z.array(recordSchema) });

/** A new secret, 256 random bits; `ofk_` tells it from a token at sight. */
export function newApiKey(): string {
  return `ofk_${randomBytes(32).toString('base64url')}`;
}

/** What is kept of a secret. */
export function apiKeyHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Names a key in logs and tokens, and says nothing of its secret. */
export function apiKeyId(hash: string): string {
  return `key_${hash.slice(0, 16)}`;
}

/**
 * API keys in a file that the command line writes and a running platform reads: each look at `records` sees what the
 * file holds by then. A missing file holds no keys.
 */
export class ApiKeyFile {
  readonly #path: string;
  #stamp = '';
  #records: readonly ApiKeyRecord[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** @returns all keys, oldest first; @throws ApiKeyFileError when the file is damaged */
  records(): readonly ApiKeyRecord[] {
    const stat = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    // Each write is a new file, so a change shows even within one tick of the file system's clock.
    const stamp = stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
    if (stamp === this.#stamp) return this.#records;
    this.#records = stat === undefined ? [] : this.#read();
    this.#stamp = stamp;
    return this.#records;
  }

  /** @returns the record, and the secret, which is kept nowhere; @throws ApiKeyFileError */
  async create(options: { nowMs: number; hasBalance: boolean }): Promise<{ record: ApiKeyRecord; secret: string }> {
    const secret = newApiKey();
    const hash = apiKeyHash(secret);
    const record: ApiKeyRecord = {
      id: apiKeyId(hash),
      prefix: secret.slice(0, 8),
      hash,
      createdAt: new Date(options.nowMs).toISOString(),
      revokedAt: null,
      hasBalance: options.hasBalance,
    };
    await this.#write([...this.records(), record]);
    return { record, secret };
  }

  /** Revokes for good; a key revoked before keeps its time. @throws ApiKeyFileError when there is no such key */
  async revoke(id: string, nowMs: number): Promise<ApiKeyRecord> {
    const found = this.find(id);
    const revoked = { ...found, revokedAt: found.revokedAt ?? new Date(nowMs).toISOString() };
    await this.#write(this.records().map((record) => (record.id === id ? revoked : record)));
    return revoked;
  }

  /** @throws ApiKeyFileError when there is no such key */
  find(id: string): ApiKeyRecord {
    const found = this.records().find((record) => record.id === id);
    if (found === undefined) throw new ApiKeyFileError(`there is no API key with the id ${id}`);
    return found;
  }

  #read(): readonly ApiKeyRecord[] {
    try {
      return fileSchema.parse(JSON.parse(readFileSync(this.#path, 'utf8'))).keys;
    } catch (error) {
      throw new ApiKeyFileError(`the file of API keys cannot be read: ${errorText(error)}`, { cause: error });
    }
  }

  async #write(keys: readonly ApiKeyRecord[]): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const fresh = `${this.#path}.${randomBytes(6).toString('hex')}`;
    await writeFile(fresh, `${JSON.stringify({ keys }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(fresh, this.#path);
  }
}
