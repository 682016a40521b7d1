import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { MemoryTokenStore, MINT_WINDOW_MS, MOST_MINTS, type SharedToken, type TokenStore } from './token-store.ts';

export interface RedisTokenStoreOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Before every key; `offhook` when absent. */
  readonly prefix?: string;
}

/** Short: a mint must not wait for an unreachable Redis. */
const COMMAND_TIMEOUT_MS = 1_000;
/** Pause after a failure before Redis is asked again. */
const AWAY_MS = 5_000;

/** Takes one of the minute's mints, by Redis' own clock; returns 0, or the ms until the oldest mint is a minute old. */
const TAKE_MINT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - tonumber(ARGV[1]))
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return math.max(1, math.ceil(tonumber(oldest[2]) + tonumber(ARGV[1]) - now))`;

/** Releases a claim if it is still this owner's. */
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Takes a claim, or renews the owner's own. */
const CLAIM = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/**
 * The token store of all processes that share a Redis. While Redis is unreachable each process uses a budget of its own, so that
 * calls go on.
 */
export class RedisTokenStore implements TokenStore {
  readonly #redis: Redis;
  readonly #alone: MemoryTokenStore;
  readonly #logger: Logger;
  readonly #prefix: string;
  readonly #clock: Clock;
  /** On the monotonic clock; undefined while it answers. */
  #awayUntilMs: number | undefined;

  constructor({ url, clock, logger, prefix = 'offhook' }: RedisTokenStoreOptions) {
    this.#alone = new MemoryTokenStore(clock);
    this.#clock = clock;
    this.#logger = logger;
    this.#prefix = prefix;
    this.#redis = new Redis(url, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      connectTimeout: COMMAND_TIMEOUT_MS,
      // Reconnects in the background, without an end.
      retryStrategy: (times) => Math.min(5_000, times * 200),
    });
    // The command that fails reports it; without a listener it would end the process.
    this.#redis.on('error', () => undefined);
  }

  takeMint(keyId: string): Promise<number> {
    return this.#either(
      async () => {
        const args = [String(MINT_WINDOW_MS), String(MOST_MINTS), randomUUID()];
        return Number(await this.#redis.eval(TAKE_MINT, 1, this.#key('mints', keyId), ...args));
      },
      () => this.#alone.takeMint(keyId),
    );
  }

  read(keyId: string): Promise<SharedToken | undefined> {
    return this.#either(
      async () => {
        const key = this.#key('token', keyId);
        const [sealed, lifeMs] = await Promise.all([this.#redis.get(key), this.#redis.pttl(key)]);
        return sealed === null || lifeMs <= 0 ? undefined : { sealed, lifeMs };
      },
      () => this.#alone.read(keyId),
    );
  }

  write(keyId: string, token: SharedToken): Promise<void> {
    return this.#either(
      async () => {
        const lifeMs = Math.floor(token.lifeMs);
        if (lifeMs > 0) await this.#redis.set(this.#key('token', keyId), token.sealed, 'PX', lifeMs);
      },
      () => this.#alone.write(keyId, token),
    );
  }

  claim(keyId: string, owner: string, holdMs: number): Promise<boolean> {
    return this.#either(
      async () => Number(await this.#redis.eval(CLAIM, 1, this.#key('claim', keyId), owner, String(holdMs))) === 1,
      () => this.#alone.claim(keyId, owner, holdMs),
    );
  }

  release(keyId: string, owner: string): Promise<void> {
    return this.#either(
      async () => void (await this.#redis.eval(RELEASE, 1, this.#key('claim', keyId), owner)),
      () => this.#alone.release(keyId, owner),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect();
    await this.#alone[Symbol.asyncDispose]();
  }

  #key(kind: string, keyId: string): string {
    return `${this.#prefix}:speech:${kind}:${keyId}`;
  }

  async #either<Value>(task: () => Promise<Value>, alone: () => Promise<Value>): Promise<Value> {
    if (this.#clock.nowMs() < (this.#awayUntilMs ?? 0)) return await alone();
    try {
      const value = await task();
      if (this.#awayUntilMs !== undefined) this.#logger.info({}, 'redis shares tokens again');
      this.#awayUntilMs = undefined;
      return value;
    } catch (error) {
      if (this.#awayUntilMs === undefined) this.#logger.warn({ error }, 'redis is unavailable: tokens are not shared');
      this.#awayUntilMs = this.#clock.nowMs() + AWAY_MS;
      return await alone();
    }
  }
}
