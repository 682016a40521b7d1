import type { Clock, Timer } from '../../kernel/clock.ts';
import type { DialogAction } from '../port.ts';
import { DialogTimeoutError } from './errors.ts';

/**
 * A deadline that starts anew with every sign of life, for a server that streams its answer, and a limit for all of its waits
 * together. It stands still while what the server said is taken: a caller listens to an answer longer than they wait for it.
 */
export class Patience implements Disposable {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #whom: string;
  readonly #totalMs: number;
  readonly #expired = new AbortController();
  #timer: Timer | undefined;
  #sinceMs = 0;
  /** Of this wait, how long it may last, and what is left of it. */
  #waitMs = 0;
  #waitLeftMs = 0;
  #totalLeftMs: number;

  /**
   * @param whom named in the error, for example `the bot's server`
   * @param totalMs of all waits together
   */
  constructor(clock: Clock, limitMs: number, whom: string, totalMs = Infinity) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#whom = whom;
    this.#totalMs = totalMs;
    this.#totalLeftMs = totalMs;
    this.renew();
  }

  /** Aborts with a DialogTimeoutError when nothing was heard for too long. */
  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  /** @param limitMs another deadline until the next sign of life */
  renew(limitMs = this.#limitMs): void {
    this.pause();
    this.#waitMs = limitMs;
    this.#waitLeftMs = limitMs;
    this.resume();
  }

  /** Nobody waits for the server until `resume` or `renew`. */
  pause(): void {
    if (this.#timer === undefined) return;
    this.#timer.cancel();
    this.#timer = undefined;
    const waitedMs = this.#clock.nowMs() - this.#sinceMs;
    this.#waitLeftMs -= waitedMs;
    this.#totalLeftMs -= waitedMs;
  }

  /** Goes on with the wait that was paused. */
  resume(): void {
    this.#sinceMs = this.#clock.nowMs();
    this.#timer ??= this.#clock.after(Math.max(0, Math.min(this.#waitLeftMs, this.#totalLeftMs)), () => {
      const isTotal = this.#totalLeftMs < this.#waitLeftMs;
      const said = isTotal ? `took ${this.#totalMs} ms for one turn, all waits together` : `said nothing for ${this.#waitMs} ms`;
      this.#expired.abort(new DialogTimeoutError(`${this.#whom} ${said}`));
    });
  }

  /** Passes an answer on, and waits anew after each of its actions, save those that say nothing. */
  async *deliver(actions: AsyncIterable<DialogAction>): AsyncGenerator<DialogAction> {
    for await (const action of actions) {
      this.pause();
      yield action;
      if (action.type === 'say' && action.text.trim() === '') this.resume();
      else this.renew();
    }
  }

  [Symbol.dispose](): void {
    this.pause();
  }
}
