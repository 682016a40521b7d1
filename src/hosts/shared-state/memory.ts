import type { Clock } from '../../kernel/clock.ts';
import type { Pace, SharedRates, SpentIds } from './port.ts';

/** Beyond this many names the least recently used is dropped. */
const MOST_BUCKETS = 10_000;
const MOST_SPENT = 100_000;
/** Ids live for different times, so that those whose time is over are looked for among all. */
const FORGET_EVERY_MS = 10_000;
export const MOST_CALLS = 100_000;
export const MOST_ORPHANS = 1_000;

/** A token bucket for each name. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { left: number; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As `SharedRates.take`. */
  take(name: string, pace: Pace): number {
    const bucket = this.#bucket(name, pace);
    const waitMs = waitOf(bucket, pace);
    if (waitMs === 0) bucket.left -= 1;
    return waitMs;
  }

  /** As `SharedRates.wait`. */
  wait(name: string, pace: Pace): number {
    return this.#buckets.has(name) ? waitOf(this.#bucket(name, pace), pace) : 0;
  }

  #bucket(name: string, { burst, perSecond }: Pace): { left: number; atMs: number } {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#buckets.get(name) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    // Last in the map is used last: the first one is the one to drop.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

function waitOf({ left }: { readonly left: number }, { perSecond }: Pace): number {
  // A rounding remainder is no reason to wait.
  return left < 1 - 1e-9 ? Math.max(1, Math.ceil(((1 - left) / perSecond) * 1000)) : 0;
}

export class MemoryRates implements SharedRates {
  readonly #buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.#buckets = new TokenBuckets(clock);
  }

  async take(name: string, pace: Pace): Promise<number> {
    return this.#buckets.take(name, pace);
  }

  async wait(name: string, pace: Pace): Promise<number> {
    return this.#buckets.wait(name, pace);
  }
}

/** Ids that were used, until they can be forgotten. */
export class MemorySpentIds implements SpentIds {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();
  /** Oldest first. */
  readonly #marked = new Map<string, number>();
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async spend(id: string, untilWallMs: number): Promise<boolean> {
    return this.add(id, untilWallMs) === 'added';
  }

  async isSpent(id: string): Promise<boolean> {
    return this.has(id);
  }

  async mark(id: string, untilWallMs: number): Promise<void> {
    this.#marked.delete(id);
    this.#marked.set(id, untilWallMs);
    const [oldest] = this.#marked.keys();
    if (this.#marked.size > MOST_SPENT && oldest !== undefined) this.#marked.delete(oldest);
  }

  has(id: string): boolean {
    return Math.max(this.#until.get(id) ?? 0, this.#marked.get(id) ?? 0) > this.#clock.wallMs();
  }

  /** Each id, and when it can be forgotten. */
  *live(): Iterable<readonly [id: string, untilWallMs: number]> {
    for (const known of [this.#until, this.#marked]) for (const entry of known) if (entry[1] > this.#clock.wallMs()) yield entry;
  }

  /** `full` is no room made: forgetting an id that is still good would let it be used again. */
  add(id: string, untilWallMs: number): 'added' | 'known' | 'full' {
    const nowMs = this.#clock.wallMs();
    const isDue = nowMs >= this.#forgottenAtMs + FORGET_EVERY_MS || nowMs < this.#forgottenAtMs;
    if (isDue || this.#until.size >= MOST_SPENT) {
      this.#forgottenAtMs = nowMs;
      for (const [known, untilMs] of this.#until) if (untilMs <= nowMs) this.#until.delete(known);
    }
    if (this.#until.has(id)) return 'known';
    if (this.#until.size >= MOST_SPENT) return 'full';
    this.#until.set(id, untilWallMs);
    return 'added';
  }
}
