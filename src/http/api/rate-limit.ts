import type { Clock } from '../../kernel/clock.ts';

/** Requests of one key in a row, and how many come back each second. */
const BURST = 60;
const PER_SECOND = 10;
/** Names that nobody uses any more are dropped beyond this many. */
const MOST_NAMES = 10_000;

/** A token bucket for each name. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { left: number; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns 0 when the request may go on, else the seconds to wait */
  take(name: string): number {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#buckets.get(name) ?? { left: BURST, atMs: nowMs };
    bucket.left = Math.min(BURST, bucket.left + ((nowMs - bucket.atMs) / 1000) * PER_SECOND);
    bucket.atMs = nowMs;
    // Last in the map is used last: the first one is the one to drop.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_NAMES && oldest !== undefined) this.#buckets.delete(oldest);
    if (bucket.left < 1) return Math.max(1, Math.ceil((1 - bucket.left) / PER_SECOND));
    bucket.left -= 1;
    return 0;
  }
}
