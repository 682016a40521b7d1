import { setMaxListeners } from 'node:events';
import { sleep } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';

/** Finals on their way out: each at its time or later, in the order they were made. */
export class FinalLine {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #sent: Promise<void> = Promise.resolve();

  /**
   * @param signal ends all waiting, and nothing more is sent
   * @param most   finals that may wait at once; each listens to the signal
   */
  constructor(clock: Clock, signal: AbortSignal, most: number) {
    this.#clock = clock;
    this.#signal = signal;
    setMaxListeners(most, signal);
  }

  /** Settles when every final added so far was sent, or will not be. */
  get sent(): Promise<void> {
    return this.#sent;
  }

  add(delayMs: number, send: () => void): void {
    const due = delayMs === 0 ? Promise.resolve() : sleep(this.#clock, delayMs, this.#signal);
    // Only the signal stops the wait.
    this.#sent = Promise.all([due, this.#sent]).then(send, () => undefined);
  }
}
