import type { Clock } from '../../kernel/clock.ts';

/**
 * Admits a call's inputs one at a time, each with its own moment: during it the call's clock stands still, in whole milliseconds, and all its
 * consequences, promises included, finish before the next. So a call's decisions depend only on order and times of its inputs, and a log of them is
 * enough for a replay.
 */
export class StimulusGate {
  readonly #clock: Clock;
  #nowMs: number;
  /** Consequences of an input may still be running. */
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#nowMs = Math.floor(clock.nowMs());
  }

  /** The moment of the last input. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /**
   * Admits an input that is a function call: at once, or after the one before.
   * @param act records and processes it; the clock already shows its moment
   */
  let(act: () => void): void {
    if (this.#busy) this.#waiting.push(() => this.#enter(act));
    else {
      this.#busy = true;
      setImmediate(() => this.#leave());
      this.#enter(act);
    }
  }

  /** Admits an input that is a promise's value: resolves after the one before. */
  pass(): Promise<void> {
    return new Promise((resolve) => this.let(resolve));
  }

  #enter(act: () => void): void {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock.nowMs()));
    act();
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#busy = false;
      return;
    }
    setImmediate(() => this.#leave());
    next();
  }
}
