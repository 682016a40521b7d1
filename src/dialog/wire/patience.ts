import type { Clock, Timer } from '../../kernel/clock.ts';
import { DialogTimeoutError } from './errors.ts';

/** A deadline that starts anew with every sign of life: for a server that streams its answer. */
export class Patience implements Disposable {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #whom: string;
  readonly #expired = new AbortController();
  #timer: Timer | undefined;

  /** @param whom named in the error, for example `the bot's server` */
  constructor(clock: Clock, limitMs: number, whom: string) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#whom = whom;
    this.renew();
  }

  /** Aborts with a DialogTimeoutError when nothing was heard for too long. */
  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  /** @param limitMs another deadline until the next sign of life */
  renew(limitMs = this.#limitMs): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(limitMs, () => {
      this.#expired.abort(new DialogTimeoutError(`${this.#whom} said nothing for ${limitMs} ms`));
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }
}
