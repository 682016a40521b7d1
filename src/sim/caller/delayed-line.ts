import type { Clock, Timer } from '../../kernel/clock.ts';

/** One direction of a wire: hands things on later and, since a wire is one TCP connection, in their order. */
export class DelayedLine {
  readonly #clock: Clock;
  readonly #delayMs: (() => number) | undefined;
  readonly #waiting: (() => void)[] = [];
  readonly #timers = new Set<Timer>();
  #lastDueMs = 0;

  /** @param delayMs delay of each thing, called for each; without it, or at 0, things are handed on at once */
  constructor(clock: Clock, delayMs: (() => number) | undefined) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  pass(deliver: () => void): void {
    const nowMs = this.#clock.nowMs();
    const dueMs = Math.max(this.#lastDueMs, nowMs + (this.#delayMs?.() ?? 0));
    if (dueMs <= nowMs && this.#waiting.length === 0) {
      deliver();
      return;
    }
    this.#lastDueMs = dueMs;
    this.#waiting.push(deliver);
    const timer = this.#clock.after(dueMs - nowMs, () => {
      this.#timers.delete(timer);
      // The oldest, not its own: timers that are due together may fire in any order.
      this.#waiting.shift()?.();
    });
    this.#timers.add(timer);
  }

  /** The wire is cut: what is on it never arrives. */
  cut(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#waiting.length = 0;
  }
}
