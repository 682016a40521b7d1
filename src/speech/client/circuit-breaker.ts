import type { Clock } from '../../kernel/clock.ts';
import { SpeechUnavailableError } from './errors.ts';

export interface BreakerOptions {
  readonly clock: Clock;
  /** Names the service in the error, for example `synthesis`. */
  readonly service: string;
  /** Failures in a row that open it; more than one request with all its retries. */
  readonly failures?: number;
  /** Pause before one request may try the service again. */
  readonly pauseMs?: number;
}

const DEFAULT_FAILURES = 10;
const DEFAULT_PAUSE_MS = 5_000;

/**
 * A circuit breaker for one service: after several failures in a row requests fail at once, and one request per pause tries the
 * service again. Only lost connections and 5xx count as failures. Written here because it runs on the injected clock.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #nextTryMs = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#failures >= (this.#options.failures ?? DEFAULT_FAILURES);
  }

  /** Call this before each request. @throws SpeechUnavailableError while it is open */
  check(): void {
    const { clock, service, pauseMs = DEFAULT_PAUSE_MS } = this.#options;
    if (!this.isOpen) return;
    const nowMs = clock.nowMs();
    if (nowMs < this.#nextTryMs)
      throw new SpeechUnavailableError(`${service} failed ${this.#failures} times in a row; it is asked again soon`);
    // The request that tries may end without a result: after the next pause another one tries.
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
