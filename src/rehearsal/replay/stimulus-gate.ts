import type { Clock } from '../../kernel/clock.ts';

/**
 * Lets what comes into a call in one at a time, each with a moment of its own: within it the call's clock stands still, in
 * whole milliseconds, and all that it sets off, promises included, is done before the next. So the order and the times of
 * what came in are all that a call's decisions depend on, and a log of them is enough to run it again.
 */
export class StimulusGate {
  readonly #clock: Clock;
  #nowMs: number;
  /** Something was let in, and what it has set off may still be running. */
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#nowMs = Math.floor(clock.nowMs());
  }

  /** The moment of what was let in last. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /**
   * Lets in what comes as a call of one of our functions: at once, or when what came before is done.
   * @param act writes it down and takes it in; the moment is already its own
   */
  let(act: () => void): void {
    if (this.#busy) this.#waiting.push(() => this.#enter(act));
    else {
      this.#busy = true;
      setImmediate(() => this.#leave());
      this.#enter(act);
    }
  }

  /** Lets in what comes as the value of a promise: resolves when what came before is done. */
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
