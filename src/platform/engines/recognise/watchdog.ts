import type { Clock, Timer } from '../../../kernel/clock.ts';

const EVERY_MS = 5_000;
/** Pings in a row without any answer: after the first number nobody new is let in, after the second the thread is given up. */
const UNANSWERED = { late: 3, stuck: 4 };

export interface WatchdogOptions {
  readonly clock: Clock;
  /** Between two pings: 5 s when absent. */
  readonly everyMs?: number | undefined;
  readonly ping: () => void;
  /** Whether anybody waits for the thread; without that, it is asked until it has answered once more. */
  readonly isNeeded: () => boolean;
  readonly onStuck: (silentMs: number) => void;
}

/**
 * Asks a thread whether it still answers. Unanswered pings are counted, not time: on a machine without processor time left this side is
 * late too, and a thread that gets some between two pings answers.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #everyMs: number;
  #unanswered = 0;
  #timer: Timer | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? EVERY_MS;
  }

  /** False while the thread owes the answers to several pings. */
  get isAnswered(): boolean {
    return this.#unanswered < UNANSWERED.late;
  }

  /** Starts to ask, until nobody needs the thread and it has answered. */
  watch(): void {
    this.#timer ??= this.#options.clock.after(this.#everyMs, () => this.#tick());
  }

  /** Any message of the thread is an answer. */
  answered(): void {
    this.#unanswered = 0;
  }

  /** Nobody needs the thread any more: it is asked no further, unless it owes an answer. */
  rest(): void {
    if (this.#unanswered === 0) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unanswered = 0;
  }

  #tick(): void {
    this.#timer = undefined;
    const { isNeeded, ping, onStuck } = this.#options;
    if (this.#unanswered >= UNANSWERED.stuck) {
      onStuck(this.#unanswered * this.#everyMs);
      return;
    }
    if (this.#unanswered === 0 && !isNeeded()) return;
    this.#unanswered += 1;
    ping();
    this.watch();
  }
}
