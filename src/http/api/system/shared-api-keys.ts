import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import type { ApiKeyRepository } from '../../../records/port.ts';
import { API_SCOPES, type ApiKey, type ApiKeyBook, type ApiKeys, hashOf, type NewApiKey, newApiKey } from './api-keys.ts';

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
