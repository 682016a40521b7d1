import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { newId } from '../../kernel/ids.ts';

/**
 * What a key may do. `numbers:read` shows phone numbers in full; without it they are masked. `calls:listen` shows what is said
 * in live calls, `calls:control` speaks into them and ends them.
 */
export const API_SCOPES = [
  'calls:read',
  'recordings:read',
  'analyses:read',
  'analyses:write',
  'jobs:write',
  'numbers:read',
  'calls:listen',
  'calls:control',
] as const;
export type ApiScope = (typeof API_SCOPES)[number];

/** The file's name in the data folder. */
export const API_KEYS_FILE = 'api-keys.json';

const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  tenantId: z.string().min(1),
  scopes: z.array(z.enum(API_SCOPES)),
  /** SHA-256 in hex: keys are long and random, so that nothing slower is needed. */
  hash: z.string(),
  createdAtMs: z.number(),
});
export type ApiKey = z.output<typeof apiKey>;
const keyFile = z.object({ version: z.literal(1), keys: z.array(apiKey) });

/** The keys of the API, in a file of the data folder that holds hashes alone. Another process may change it meanwhile. */
export class ApiKeys {
  readonly #path: string;
  #readAt: string | undefined;
  #keys: readonly ApiKey[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** The key's facts; undefined for one that is unknown or was revoked. */
  find(secret: string): ApiKey | undefined {
    const hash = hashOf(secret);
    return this.list().find((key) => key.hash === hash);
  }

  list(): readonly ApiKey[] {
    const facts = statSync(this.#path, { throwIfNoEntry: false });
    const version = facts === undefined ? 'none' : `${facts.mtimeMs} ${facts.size} ${facts.ino}`;
    if (version !== this.#readAt) {
      this.#keys = facts === undefined ? [] : keyFile.parse(JSON.parse(readFileSync(this.#path, 'utf8'))).keys;
      this.#readAt = version;
    }
    return this.#keys;
  }

  /** @returns the key itself, which is shown once and kept nowhere */
  create(facts: Pick<ApiKey, 'name' | 'tenantId' | 'scopes'>, nowMs: number): { readonly secret: string; readonly key: ApiKey } {
    const secret = `ohk_${randomBytes(32).toString('base64url')}`;
    const key = { id: newId('key'), ...facts, hash: hashOf(secret), createdAtMs: nowMs };
    this.#write([...this.list(), key]);
    return { secret, key };
  }

  /** @returns false when there is no such key */
  revoke(id: string): boolean {
    const left = this.list().filter((key) => key.id !== id);
    if (left.length === this.list().length) return false;
    this.#write(left);
    return true;
  }

  #write(keys: readonly ApiKey[]): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    const temporary = `${this.#path}.tmp`;
    writeFileSync(temporary, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, this.#path);
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
