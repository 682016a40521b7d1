import type { Clock, Timer } from '../kernel/clock.ts';

/** One 20 ms tick for all calls of a process, on absolute deadlines; missed ticks are skipped. */
export class Ticker {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<(nowMs: number) => void>();
  #timer: Timer | undefined;
  #dueMs = 0;

  /** @param onError called when a listener threw; the others go on */
  constructor(clock: Clock, periodMs: number, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#onError = onError;
  }

  /** @returns removes the listener; the tick stops with the last one */
  add(listener: (nowMs: number) => void): () => void {
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#dueMs = this.#clock.nowMs();
      this.#arm();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
    };
  }

  #arm(): void {
    const nowMs = this.#clock.nowMs();
    this.#dueMs = Math.max(this.#dueMs + this.#periodMs, nowMs + 1);
    this.#timer = this.#clock.after(this.#dueMs - nowMs, () => {
      this.#arm();
      const tickMs = this.#clock.nowMs();
      for (const listener of this.#listeners) {
        try {
          listener(tickMs);
        } catch (error) {
          this.#onError(error);
        }
      }
    });
  }
}
