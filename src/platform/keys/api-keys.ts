import { join, dirname } from 'node:path';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { errorText, OffhookError } from '../../kernel/errors.ts';

/** Paths of the platform's key files below the data folder. */
export function keyPaths(dataDir: string): { readonly apiKeys: string; readonly signingKey: string } {
  const folder = join(dataDir, 'platform');
  return { apiKeys: join(folder, 'api-keys.jsonl'), signingKey: join(folder, 'signing-key.pem') };
}

/** The file of API keys is damaged, or does not contain a key. */
export class ApiKeyFileError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_KEYS';
  readonly retryable = false;
}

const recordSchema = z.object({
  id: z.string().min(1),
  /** The secret's first characters, to tell keys apart. */
  prefix: z.string(),
  /** SHA-256 of the secret in hex; 256 random bits need no slow hash. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** ISO 8601. */
  createdAt: z.string(),
  /** ISO 8601; null while the key is in force. */
  revokedAt: z.string().nullable(),
  /** False: the token service answers 403, as for an account without balance. */
  hasBalance: z.boolean(),
});

export type ApiKeyRecord = z.infer<typeof recordSchema>;

/** A new secret of 256 random bits; the prefix `ofk_` distinguishes it from a token. */
export function newApiKey(): string {
  return `ofk_${randomBytes(32).toString('base64url')}`;
}

/** The stored hash of a secret. */
export function apiKeyHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The id of a key in logs and tokens; reveals nothing of the secret. */
export function apiKeyId(hash: string): string {
  return `key_${hash.slice(0, 16)}`;
}

/**
 * API keys in a file that the command line writes and a running platform reads; `records` always returns the current content. A missing
 * file has no keys. The file is a log: each change appends a line with the key's new state in one write, so that concurrent commands do
 * not lose changes.
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
    // The size shows a change even within one tick of the file system's clock.
    const stamp = stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
    if (stamp === this.#stamp) return this.#records;
    this.#records = stat === undefined ? [] : this.#read();
    this.#stamp = stamp;
    return this.#records;
  }

  /** @returns the record, and the secret, which is not stored. @throws ApiKeyFileError */
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
    await this.#add(record);
    return { record, secret };
  }

  /** Revokes a key; one already revoked keeps its time. @throws ApiKeyFileError when there is no such key */
  async revoke(id: string, nowMs: number): Promise<ApiKeyRecord> {
    const found = this.find(id);
    const revoked = { ...found, revokedAt: found.revokedAt ?? new Date(nowMs).toISOString() };
    await this.#add(revoked);
    return revoked;
  }

  /** @throws ApiKeyFileError when there is no such key */
  find(id: string): ApiKeyRecord {
    const found = this.records().find((record) => record.id === id);
    if (found === undefined) throw new ApiKeyFileError(`there is no API key with the id ${id}`);
    return found;
  }

  #read(): readonly ApiKeyRecord[] {
    const text = readFileSync(this.#path, 'utf8');
    const keys = new Map<string, ApiKeyRecord>();
    // A last line without line end is still being written.
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    for (const [index, line] of lines.entries()) {
      if (line === '') continue;
      const record = readRecord(line, index + 1);
      // The first of two revocations counts.
      keys.set(record.id, { ...record, revokedAt: keys.get(record.id)?.revokedAt ?? record.revokedAt });
    }
    return [...keys.values()];
  }

  async #add(record: ApiKeyRecord): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    // The leading line end separates it from a line that a full disk cut off.
    await appendFile(this.#path, `\n${JSON.stringify(record)}\n`, { mode: 0o600, flush: true });
  }
}

function readRecord(line: string, number: number): ApiKeyRecord {
  try {
    return recordSchema.parse(JSON.parse(line));
  } catch (error) {
    throw new ApiKeyFileError(`line ${number} of the file of API keys cannot be read: ${errorText(error)}`, { cause: error });
  }
}

export type KeyStatus = 'active' | 'revoked' | 'no-balance';

export interface ApiKeyEntry {
  readonly secret: string;
  readonly status?: KeyStatus;
}

export interface ApiKey {
  /** Safe for logs and tokens: reveals nothing of the secret. */
  readonly id: string;
  readonly status: KeyStatus;
}

/** The platform's API keys, by hash; secrets are not stored. */
export class ApiKeys {
  readonly #byHash = new Map<string, ApiKey>();
  readonly #file: ApiKeyFile | undefined;

  /** @param file more keys, which may change while the platform runs */
  constructor(entries: readonly ApiKeyEntry[], file?: ApiKeyFile) {
    this.#file = file;
    for (const { secret, status } of entries) {
      const hash = apiKeyHash(secret);
      this.#byHash.set(hash, { id: apiKeyId(hash), status: status ?? 'active' });
    }
  }

  /**
   * Looks up by hash, so that the time reveals nothing about a similar secret.
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
