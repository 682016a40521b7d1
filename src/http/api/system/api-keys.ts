import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errorText, OffhookError } from '../../../kernel/errors.ts';
import { FileLock } from '../../../kernel/file-lock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { ApiKeyRepository } from '../../../records/port.ts';

/**
 * API scopes. `numbers:read` shows phone numbers in full; without it they are masked. `calls:review` labels, assigns and comments calls. `calls:listen` shows the words of live calls, `calls:control`
 * speaks into them and ends them, and `calls:talk` talks to a bot from the browser, or in text. `calls:dial` places single calls; `campaigns:write`
 * creates and runs campaigns; `dialling:write` changes do-not-call lists and consents; `dialling:rules`, beside `calls:dial` or `campaigns:write`,
 * chooses the profile and time zone rule; `privacy:write` erases people; `bots:read` shows bots, `bots:write` edits and publishes them; `keys:write`
 * makes and revokes API keys; `settings:read` shows webhook endpoints, members, carriers and speech, and `settings:write` changes them and runs
 * checks; `system:read` shows the gateway's state, `system:control` drains it, `audit:read` shows the audit log.
 */
export const API_SCOPES = [
  'calls:read',
  'calls:review',
  'recordings:read',
  'analyses:read',
  'analyses:write',
  'jobs:write',
  'numbers:read',
  'calls:listen',
  'calls:control',
  'calls:talk',
  'calls:dial',
  'campaigns:read',
  'campaigns:write',
  'dialling:read',
  'dialling:write',
  'dialling:rules',
  'privacy:write',
  'bots:read',
  'bots:write',
  'keys:write',
  'settings:read',
  'settings:write',
  'system:read',
  'system:control',
  'audit:read',
] as const;
export type ApiScope = (typeof API_SCOPES)[number];

/** The API key file is damaged, or cannot be read or changed. */
export class ApiKeysError extends OffhookError {
  readonly code = 'OFFHOOK_API_KEYS';
  readonly retryable = false;
}

/** File name in the data folder. */
export const API_KEYS_FILE = 'api-keys.json';

const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  tenantId: z.string().min(1),
  scopes: z.array(z.enum(API_SCOPES)),
  /** SHA-256 in hex: keys are long and random, so a slow hash is not needed. */
  hash: z.string(),
  createdAtMs: z.number(),
});
type ApiKey = z.output<typeof apiKey>;
/** The authenticated client: an API key, or a token's subject. */
export type Principal = Pick<ApiKey, 'id' | 'tenantId' | 'scopes'> & Partial<Pick<ApiKey, 'name'>>;
const keyFile = z.object({ version: z.literal(1), keys: z.array(apiKey) });

type Awaitable<Value> = Value | Promise<Value>;

/** The store of API keys. */
export interface ApiKeyBook {
  /** The key's facts; undefined for an unknown or revoked one. */
  find(secret: string): Awaitable<ApiKey | undefined>;
  list(): Awaitable<readonly ApiKey[]>;
  /** @returns the key itself, which is shown once and not stored */
  create(facts: Pick<ApiKey, 'name' | 'tenantId' | 'scopes'>, nowMs: number): Awaitable<NewApiKey>;
  /** @returns false for an unknown key */
  revoke(id: string): Awaitable<boolean>;
}

export interface NewApiKey {
  readonly secret: string;
  readonly key: ApiKey;
}

/**
 * API keys in a file of the data folder that only has hashes. Other processes may change it too. Methods throw an ApiKeysError when the file cannot
 * be read or changed.
 */
export class ApiKeys implements ApiKeyBook {
  readonly #path: string;
  #readAt: string | undefined;
  #keys: readonly ApiKey[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  find(secret: string): ApiKey | undefined {
    const hash = hashOf(secret);
    return this.list().find((key) => key.hash === hash);
  }

  list(): readonly ApiKey[] {
    return orRefused(`${this.#path} holds no API keys that can be read`, () => {
      const facts = statSync(this.#path, { throwIfNoEntry: false });
      const version = facts === undefined ? 'none' : `${facts.mtimeMs} ${facts.size} ${facts.ino}`;
      if (version !== this.#readAt) {
        this.#keys = facts === undefined ? [] : keyFile.parse(JSON.parse(readFileSync(this.#path, 'utf8'))).keys;
        this.#readAt = version;
      }
      return this.#keys;
    });
  }

  create(...facts: Parameters<ApiKeyBook['create']>): NewApiKey {
    const made = newApiKey(...facts);
    this.#change((keys) => [...keys, made.key]);
    return made;
  }

  revoke(id: string): boolean {
    let isKnown = false;
    this.#change((keys) => {
      isKnown = keys.some((key) => key.id === id);
      return isKnown ? keys.filter((key) => key.id !== id) : undefined;
    });
    return isKnown;
  }

  /** Reads, changes and writes under a lock. @param change returns undefined for no change */
  #change(change: (keys: readonly ApiKey[]) => readonly ApiKey[] | undefined): void {
    orRefused(`${this.#path} cannot be changed`, () => {
      mkdirSync(dirname(this.#path), { recursive: true });
      for (let isDone = false; !isDone;) {
        const lock = FileLock.take(`${this.#path}.lock`);
        if (lock === undefined) throw new ApiKeysError(`other processes have been changing ${this.#path} for too long`);
        try {
          const changed = change(this.list());
          isDone = changed === undefined || this.#write(changed, lock);
        } finally {
          lock.release();
        }
      }
    });
  }

  /** @returns false when the lock was lost: nothing was changed */
  #write(keys: readonly ApiKey[], lock: FileLock): boolean {
    const temporary = `${this.#path}.${randomUUID()}.tmp`;
    try {
      writeFileSync(temporary, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`, { mode: 0o600 });
      if (!lock.isHeld) return false;
      renameSync(temporary, this.#path);
      return true;
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

function orRefused<Value>(message: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof ApiKeysError) throw error;
    const why = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/gu, ' ') : errorText(error);
    throw new ApiKeysError(`${message}: ${why}`, { cause: error });
  }
}

function newApiKey(facts: Pick<ApiKey, 'name' | 'tenantId' | 'scopes'>, nowMs: number): NewApiKey {
  const secret = `ohk_${randomBytes(32).toString('base64url')}`;
  return { secret, key: { id: newId('key'), ...facts, hash: hashOf(secret), createdAtMs: nowMs } };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Longest time until a revoked key is refused. */
const READ_EVERY_MS = 1_000;
/** How long keys stay valid without the store. */
const WITHOUT_STORE_MS = 60_000;
const FORM = /^ohk_[\w-]{43}$/u;

/** Unknown scopes of a newer version are ignored. */
const scopesOf = (scopes: readonly string[]): ApiKey['scopes'] =>
  scopes.flatMap((scope) => z.enum(API_SCOPES).safeParse(scope).data ?? []);

/**
 * API keys shared by several machines, in their store. A new key is valid everywhere at once, a revoked one is refused within a second. Keys of this
 * machine's file, from before it joined others, are moved to the store. Methods throw StoreUnavailableError; `find` does so after a minute without
 * the store, and for keys it has not read before.
 */
export class SharedApiKeys implements ApiKeyBook {
  readonly #repository: ApiKeyRepository;
  readonly #file: ApiKeys;
  readonly #clock: Clock;
  #byHash: ReadonlyMap<string, ApiKey> = new Map();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(repository: ApiKeyRepository, file: ApiKeys, clock: Clock) {
    this.#repository = repository;
    this.#file = file;
    this.#clock = clock;
  }

  async find(secret: string): Promise<ApiKey | undefined> {
    if (!FORM.test(secret)) return undefined;
    const hash = hashOf(secret);
    if (this.#ageMs >= READ_EVERY_MS) await this.#read().catch((error: unknown) => this.#orThrow(error));
    const known = this.#byHash.get(hash);
    if (known !== undefined) return known;
    // A read in progress may have missed it. At most one read runs at a time.
    await this.#reading?.catch(() => undefined);
    await this.#read();
    return this.#byHash.get(hash);
  }

  async list(): Promise<readonly ApiKey[]> {
    await this.#read();
    return [...this.#byHash.values()];
  }

  async create(...facts: Parameters<ApiKeyBook['create']>): Promise<NewApiKey> {
    const made = newApiKey(...facts);
    await this.#repository.insert([made.key]);
    return made;
  }

  async revoke(id: string): Promise<boolean> {
    const wasInFile = this.#file.revoke(id);
    return (await this.#repository.remove(id)) || wasInFile;
  }

  get #ageMs(): number {
    return this.#clock.nowMs() - this.#readAtMs;
  }

  #orThrow(error: unknown): void {
    if (this.#ageMs >= WITHOUT_STORE_MS) throw error;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    const atMs = this.#clock.nowMs();
    await this.#adopt();
    const rows = await this.#repository.list();
    this.#byHash = new Map(rows.map((row) => [row.hash, { ...row, scopes: scopesOf(row.scopes) }]));
    this.#readAtMs = atMs;
  }

  async #adopt(): Promise<void> {
    const inFile = this.#file.list();
    if (inFile.length === 0) return;
    await this.#repository.insert(inFile);
    for (const { id } of inFile) this.#file.revoke(id);
  }
}
