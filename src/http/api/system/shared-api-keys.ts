import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import type { ApiKeyRepository } from '../../../records/port.ts';
import { API_SCOPES, type ApiKey, type ApiKeyBook, type ApiKeys, hashOf, type NewApiKey, newApiKey } from './api-keys.ts';

/** A revoked key is refused after this at the latest. */
const READ_EVERY_MS = 1_000;
/** Keys hold for so long without the store. */
const WITHOUT_STORE_MS = 60_000;
const FORM = /^ohk_[\w-]{43}$/u;

/** Of a key with rights that only a newer version knows, the others hold. */
const scopesOf = (scopes: readonly string[]): ApiKey['scopes'] =>
  scopes.flatMap((scope) => z.enum(API_SCOPES).safeParse(scope).data ?? []);

/**
 * The keys of the API of several machines, in the store that they share. A new key holds at once everywhere, a revoked one is refused within a second.
 * Keys of this machine's file, from before it was one of several, are moved to the store. Methods throw StoreUnavailableError; `find` does after a minute
 * without the store, and for a key that was not read before.
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
    // One that was being read already may have missed it. However many ask, one question at a time is open.
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
