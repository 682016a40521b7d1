import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import { writeFileAtomic } from '../../../kernel/temporary.ts';
import type { ApiKeyBook, NewApiKey } from './api-keys.ts';

/** File name in the data folder. */
export const API_KEY_USES_FILE = 'api-key-uses.json';
/** A use is written at most this often: it is shown in minutes. */
const WRITE_EVERY_MS = 60_000;

const uses = z.record(z.string(), z.number());

/** API keys with the time at which this machine last saw each. A use that cannot be written is forgotten with the process. */
export class NotedApiKeys implements ApiKeyBook {
  readonly #keys: ApiKeyBook;
  readonly #path: string;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #usedAtMs: Map<string, number>;
  #writtenAtMs = Number.NEGATIVE_INFINITY;

  constructor(keys: ApiKeyBook, path: string, clock: Pick<Clock, 'wallMs'>) {
    this.#keys = keys;
    this.#path = path;
    this.#clock = clock;
    this.#usedAtMs = new Map(Object.entries(readUses(path)));
  }

  async find(secret: string): Promise<Awaited<ReturnType<ApiKeyBook['find']>>> {
    const key = await this.#keys.find(secret);
    if (key !== undefined) this.#note(key.id);
    return key;
  }

  list(): ReturnType<ApiKeyBook['list']> {
    return this.#keys.list();
  }

  create(...facts: Parameters<ApiKeyBook['create']>): NewApiKey | Promise<NewApiKey> {
    return this.#keys.create(...facts);
  }

  async revoke(id: string): Promise<boolean> {
    this.#usedAtMs.delete(id);
    return this.#keys.revoke(id);
  }

  /** When this machine last saw a key; undefined where it never did. */
  usedAtMs(id: string): number | undefined {
    return this.#usedAtMs.get(id);
  }

  #note(id: string): void {
    const nowMs = this.#clock.wallMs();
    this.#usedAtMs.set(id, nowMs);
    if (nowMs - this.#writtenAtMs < WRITE_EVERY_MS) return;
    this.#writtenAtMs = nowMs;
    writeFileAtomic(this.#path, JSON.stringify(Object.fromEntries(this.#usedAtMs))).catch(() => undefined);
  }
}

function readUses(path: string): Readonly<Record<string, number>> {
  try {
    return uses.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return {};
  }
}
