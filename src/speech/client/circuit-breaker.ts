import type { Clock } from '../../kernel/clock.ts';
import { SpeechUnavailableError } from './errors.ts';

export interface BreakerOptions {
  readonly clock: Clock;
  /** Names the service in the error, for example `synthesis`. */
  readonly service: string;
  /** Failures in a row that open it; more than one request with all its repeats makes. */
  readonly failures?: number;
  /** Pause before one request is let through to see whether the service is back. */
  readonly pauseMs?: number;
}

const DEFAULT_FAILURES = 10;
const DEFAULT_PAUSE_MS = 5_000;

/**
 * Keeps requests from a service that has failed many times in a row: while it is open they fail at once, which is kinder to
 * callers and to the service, and once a pause one of them goes through to see. Ours, because it runs on the injected
 * clock. Only lost connections and 5xx count; an answer of any other kind shows that the service is there.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #nextTryMs = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#failures >= (this.#options.failures ?? DEFAULT_FAILURES);
  }

  /** Asks to send one request. @throws SpeechUnavailableError while it is open, and nothing must be sent */
  check(): void {
    const { clock, service, pauseMs = DEFAULT_PAUSE_MS } = this.#options;
    if (!this.isOpen) return;
    const nowMs = clock.nowMs();
    if (nowMs < this.#nextTryMs)
      throw new SpeechUnavailableError(`${service} failed ${this.#failures} times in a row; it is asked again soon`);
    // Whoever is let through may go away without a word: the next pause lets another one try.
    this.#nextTryMs = nowMs + pauseMs;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    const { clock, pauseMs = DEFAULT_PAUSE_MS } = this.#options;
    this.#failures += 1;
    this.#nextTryMs = clock.nowMs() + pauseMs;
  }
}
