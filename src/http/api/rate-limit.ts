import type { Clock } from '../../kernel/clock.ts';

export interface Pace {
  /** So many in a row. */
  readonly burst: number;
  /** So many come back each second. */
  readonly perSecond: number;
}

/** Of the requests of one key. */
const API_PACE: Pace = { burst: 60, perSecond: 10 };
/** Beyond this many names the least recently used is dropped. */
const MOST_NAMES = 10_000;

/** A token bucket for each name. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #buckets = new Map<string, { left: number; atMs: number }>();

  constructor(clock: Clock, pace: Pace = API_PACE) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** @returns 0 when the request may go on, else the seconds to wait */
  take(name: string): number {
    const bucket = this.#bucket(name);
    const waitS = this.#waitS(bucket);
    if (waitS === 0) bucket.left -= 1;
    return waitS;
  }

  /** What `take` would return, with nothing taken. */
  wait(name: string): number {
    return this.#buckets.has(name) ? this.#waitS(this.#bucket(name)) : 0;
  }

  #waitS({ left }: { readonly left: number }): number {
    return left < 1 ? Math.max(1, Math.ceil((1 - left) / this.#pace.perSecond)) : 0;
  }

  #bucket(name: string): { left: number; atMs: number } {
    const { burst, perSecond } = this.#pace;
    const nowMs = this.#clock.nowMs();
    const bucket = this.#buckets.get(name) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    // Last in the map is used last: the first one is the one to drop.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_NAMES && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
