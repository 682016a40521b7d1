import type { Clock } from '../../kernel/clock.ts';

interface Kept {
  readonly bytes: Uint8Array;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/** Bytes by name, up to so many in all; the least recently used go first, and each when its time is over. */
export class PhraseStore {
  readonly #clock: Clock;
  readonly #mostBytes: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(clock: Clock, mostBytes: number) {
    this.#clock = clock;
    this.#mostBytes = mostBytes;
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  get(name: string): Uint8Array | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    this.#forget(name);
    if (kept.untilMs <= this.#clock.nowMs()) return undefined;
    this.#add(name, kept);
    return kept.bytes;
  }

  set(name: string, bytes: Uint8Array, lifeMs = Number.POSITIVE_INFINITY): void {
    this.#forget(name);
    this.#add(name, { bytes, untilMs: this.#clock.nowMs() + lifeMs });
    for (const [other, { untilMs }] of this.#kept)
      if (untilMs <= this.#clock.nowMs() || this.#bytes > this.#mostBytes) this.#forget(other);
  }

  #add(name: string, kept: Kept): void {
    this.#kept.set(name, kept);
    this.#bytes += kept.bytes.length;
  }

  #forget(name: string): void {
    this.#bytes -= this.#kept.get(name)?.bytes.length ?? 0;
    this.#kept.delete(name);
  }
}
