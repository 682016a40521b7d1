import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';

export interface HealthWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether everything is well; a throw counts as no. */
  readonly ask: (signal: AbortSignal) => Promise<boolean>;
}

const EVERY_MS = 5_000;

/** Asks a service for its health every few seconds and keeps the last verdict. */
export class HealthWatch implements Disposable {
  readonly #options: HealthWatchOptions;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #isUp = true;
  #onUp: () => void = () => undefined;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
  }

  /** The last verdict; true before the first. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Asks from now on. @param onUp told when it came back */
  start(onUp: () => void): void {
    this.#onUp = onUp;
    void this.check();
  }

  /** Asks now, and again later. Never rejects. */
  async check(): Promise<boolean> {
    const { clock, logger, ask } = this.#options;
    const { signal } = this.#closing;
    const before = this.#isUp;
    let isUp = false;
    try {
      isUp = await ask(signal);
    } catch {
      // Away.
    }
    // A check that was broken off by closing says nothing about the platform.
    if (signal.aborted) return before;
    this.#isUp = isUp;
    if (before !== isUp) {
      logger.warn({ up: isUp }, 'speech platform changed state');
      if (isUp) this.#onUp();
    }
    this.#timer?.cancel();
    this.#timer = clock.after(EVERY_MS, () => void this.check());
    return isUp;
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the speech client was closed'));
    this.#timer?.cancel();
  }
}
