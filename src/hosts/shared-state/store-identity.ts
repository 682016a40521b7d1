import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { RedisLink } from './redis-link.ts';

/** How often members that have calls look whether Redis is still the one that they wrote to. */
export const LOOK_MS = 500;

/** Tells a Redis that has lost everything, or another one at its address: each has a random id, which the first member writes. */
export class StoreIdentity {
  readonly #link: RedisLink;
  #known: string | undefined;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Asks even while Redis counts as away. @returns whether it has lost what was written before the last look; undefined without an answer */
  async look(): Promise<'same' | 'emptied' | undefined> {
    const id = await this.#link.ask({ script: 'offhookStoreId', args: [randomUUID()], reply: z.string(), always: true });
    if (id === undefined) return undefined;
    const isEmptied = this.#known !== undefined && this.#known !== id;
    this.#known = id;
    return isEmptied ? 'emptied' : 'same';
  }
}
