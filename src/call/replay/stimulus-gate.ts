import type { Clock } from '../../kernel/clock.ts';

/**
 * Lets what comes into a call in one at a time, each with a moment of its own: within it the call's clock stands still, in
 * whole milliseconds. So the order and the times of what came in are all that a call's decisions depend on, and a log of
 * them is enough to run it again.
 */
export class StimulusGate {
  readonly #clock: Clock;
  #nowMs: number;
  /** Something was let in, and what it has set off may still be running. */
  #busy = false;
  #inside = false;
  readonly #nested: (() => void)[] = [];
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
   * Lets in what comes as a call of one of our functions. What comes while another is still being taken in follows it.
   * @param write writes it down; told the moment before anything of it is done
   */
  let(write: () => void, act: () => void): void {
    if (this.#inside) {
      this.#nested.push(() => this.let(write, act));
      return;
    }
    this.#enter();
    write();
    this.#inside = true;
    try {
      act();
    } finally {
      this.#inside = false;
      this.#nested.shift()?.();
    }
  }

  /** Lets in what comes as the value of a promise: resolves when nothing that came before is still at work. */
  async pass(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#enter();
  }

  #enter(): void {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock.nowMs()));
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => this.#leave());
  }

  /** Whoever waits goes in next, before anyone who comes now. */
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
