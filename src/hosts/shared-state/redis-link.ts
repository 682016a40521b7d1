import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { within } from '../../kernel/waiting.ts';
import { throttleLines } from '../../observability/log-throttle.ts';
import type { Logger } from '../../observability/logger.ts';
import { connectRedis, parseRedisAddress } from '../../kernel/redis-address.ts';
import { SCRIPTS, type ScriptName } from './redis-scripts.ts';

/** A caller waits no longer for Redis than this. */
const DEADLINE_MS = 250;
/** A connection on which nothing has come for so long, with questions open, is made anew. */
const SILENT_MS = 3_000;
const MOST_RECONNECT_MS = 1_000;
const LATE = Symbol('late');

type Commands = Readonly<Record<string, (...args: readonly (string | number)[]) => Promise<unknown>>>;

export interface RedisLinkOptions {
  /** As `parseRedisAddress` takes it. */
  readonly url: string;
  /** Before every key, as the hash tag `{offhook:<namespace>}`: gateways of different namespaces share nothing. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Question<Reply> {
  readonly script: ScriptName;
  readonly reply: z.ZodType<Reply>;
  readonly args: readonly (string | number)[];
  /** Without the namespace; those of the script when absent. */
  readonly keys?: readonly string[];
  /** Asked even while Redis counts as away. */
  readonly always?: true;
  /** Counts questions whose answer is neither here nor lost: some are answered long after the caller was. */
  readonly counted?: { open: number };
}

/**
 * One connection to Redis. After a question that failed or was late, Redis counts as away and is not waited for, until the owner of this
 * link gets an answer to a question with `always` and calls `back`.
 */
export class RedisLink implements Disposable {
  readonly #redis: Redis | Cluster;
  readonly #commands: Commands;
  readonly #options: RedisLinkOptions;
  readonly #lineOf: ReturnType<typeof throttleLines>;
  readonly #listeners: { readonly away: () => void; readonly ready: () => void };
  #awaySinceMs: number | undefined;
  #problem = 'it was not reached yet';
  #wasThere = false;
  #closed = false;

  /** @throws RedisAddressError */
  constructor(options: RedisLinkOptions, listeners: { readonly away: () => void; readonly ready: () => void }) {
    this.#options = options;
    this.#listeners = listeners;
    this.#lineOf = throttleLines(options.clock);
    this.#awaySinceMs = options.clock.nowMs();
    this.#redis = connectRedis(parseRedisAddress(options.url), {
      enableOfflineQueue: false,
      // What was asked on a connection that is lost fails at once: it may have been done, and is not to be done twice.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: SILENT_MS,
      socketTimeout: SILENT_MS,
      retryStrategy: (times) => Math.min(MOST_RECONNECT_MS, times * 100),
    });
    for (const [name, { lua }] of Object.entries(SCRIPTS)) this.#redis.defineCommand(name, { lua });
    // `defineCommand` adds methods that the types do not know.
    this.#commands = this.#redis as unknown as Commands;
    this.#redis.on('error', (error: Error) => {
      this.#problem = errorTextWithCause(error);
    });
    this.#redis.on('ready', () => listeners.ready());
  }

  get isAway(): boolean {
    return this.#awaySinceMs !== undefined;
  }

  /** Why Redis is away, without its address. */
  get problem(): string {
    return this.#problem;
  }

  /** @returns undefined while Redis is away */
  async ask<Reply>({ script, reply, args, keys, always, counted = { open: 0 } }: Question<Reply>): Promise<Reply | undefined> {
    if (this.#closed || (this.isAway && always !== true)) return undefined;
    if (this.#redis.status !== 'ready') {
      this.#away();
      return undefined;
    }
    const { clock, namespace } = this.#options;
    const named = (keys ?? SCRIPTS[script].keys).map((key) => `{offhook:${namespace}}:${key}`);
    const command = this.#commands[script];
    if (command === undefined) throw new TypeError(`no script ${script}`);
    const answer = command.call(this.#redis, named.length, ...named, ...args);
    counted.open += 1;
    const settled = (): void => void (counted.open -= 1);
    answer.then(settled, settled);
    try {
      let answered = await within(clock, DEADLINE_MS, answer, LATE);
      // After a busy moment of this process its timers come first, and then what arrived meanwhile.
      if (answered === LATE) answered = await within(clock, 1, answer, LATE);
      if (answered !== LATE) return reply.parse(answered);
      answer.catch(() => undefined);
      this.#problem = `no answer within ${DEADLINE_MS} ms`;
    } catch (error) {
      this.#problem = errorTextWithCause(error);
    }
    this.#away();
    return undefined;
  }

  /** Redis answers. */
  back(): void {
    if (this.#awaySinceMs === undefined) return;
    const awayMs = Math.round(this.#options.clock.nowMs() - this.#awaySinceMs);
    this.#awaySinceMs = undefined;
    this.#wasThere = true;
    const line = this.#lineOf('back');
    if (line !== undefined) this.#options.logger.info({ awayMs, ...line }, 'shared state in redis is there');
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#redis.disconnect();
  }

  #away(): void {
    if (this.#closed) return;
    // Before the first answer, an error tells the opener that Redis cannot be reached.
    const line = this.#wasThere ? this.#lineOf('away') : undefined;
    if (line !== undefined) {
      const fields = { problem: this.#problem, ...line };
      this.#options.logger.warn(fields, 'shared state in redis is away: this machine goes on alone meanwhile');
    }
    if (this.#awaySinceMs !== undefined) return;
    this.#awaySinceMs = this.#options.clock.nowMs();
    this.#listeners.away();
  }
}

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
