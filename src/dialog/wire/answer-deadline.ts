import type { Clock, Timer } from '../../kernel/clock.ts';
import type { DialogAction } from '../port.ts';
import { DialogTimeoutError } from './errors.ts';

/**
 * A deadline for a server that streams its answer: it restarts with everything the server sends, and all waits together have a
 * limit. It is paused while an action is being spoken, since that takes longer than a server may be silent.
 */
export class AnswerDeadline implements Disposable {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #whom: string;
  readonly #totalMs: number;
  readonly #expired = new AbortController();
  #timer: Timer | undefined;
  #sinceMs = 0;
  /** The length of this wait, and what remains of it. */
  #waitMs = 0;
  #waitLeftMs = 0;
  #totalLeftMs: number;

  /**
   * @param whom the server's name in errors, for example `the bot's server`
   * @param totalMs limit of all waits together
   */
  constructor(clock: Clock, limitMs: number, whom: string, totalMs = Infinity) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#whom = whom;
    this.#totalMs = totalMs;
    this.#totalLeftMs = totalMs;
    this.renew();
  }

  /** Aborts with a DialogTimeoutError when a limit has passed. */
  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  /** Starts a new wait. @param limitMs for this wait only */
  renew(limitMs = this.#limitMs): void {
    this.pause();
    this.#waitMs = limitMs;
    this.#waitLeftMs = limitMs;
    this.resume();
  }

  /** Stops the clock until `resume` or `renew`. */
  pause(): void {
    if (this.#timer === undefined) return;
    this.#timer.cancel();
    this.#timer = undefined;
    const waitedMs = this.#clock.nowMs() - this.#sinceMs;
    this.#waitLeftMs -= waitedMs;
    this.#totalLeftMs -= waitedMs;
  }

  /** Continues a paused wait. */
  resume(): void {
    this.#sinceMs = this.#clock.nowMs();
    this.#timer ??= this.#clock.after(Math.max(0, Math.min(this.#waitLeftMs, this.#totalLeftMs)), () => {
      const isTotal = this.#totalLeftMs < this.#waitLeftMs;
      const said = isTotal ? `took ${this.#totalMs} ms for one turn, all waits together` : `said nothing for ${this.#waitMs} ms`;
      this.#expired.abort(new DialogTimeoutError(`${this.#whom} ${said}`));
    });
  }

  /** Yields the actions of an answer, with a new wait after each one; an empty `say` does not restart it. */
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
