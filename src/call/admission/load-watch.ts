import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { LoopLag } from '../../observability/loop-lag.ts';
import { type AdmissionLimits, nextShedding } from './admission.ts';

/**
 * Length of one lag measurement. Its 99th percentile ignores a single stall, such as a bot's first load, and still catches a loop that is late again
 * and again.
 */
const WINDOW_MS = 2_000;

export interface LoadWatchOptions {
  readonly limits: Omit<AdmissionLimits, 'maximum'>;
  readonly lag: LoopLag;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Called after each measurement. */
  readonly onJudged?: ((load: Pick<LoadWatch, 'lagMs' | 'shedding'>) => void) | undefined;
}

/** Watches how late the event loop runs, and says whether that leaves room for more calls. Closes the lag's measurement too. */
export class LoadWatch implements Disposable {
  readonly #options: LoadWatchOptions;
  #timer: Timer;
  #shedding = false;
  #lagMs = 0;

  constructor(options: LoadWatchOptions) {
    this.#options = options;
    this.#timer = this.#arm();
  }

  /** Whether new calls are refused because the loop is late. */
  get shedding(): boolean {
    return this.#shedding;
  }

  /** The lag of the last whole window, in ms. */
  get lagMs(): number {
    return this.#lagMs;
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#options.lag[Symbol.dispose]();
  }

  #arm(): Timer {
    return this.#options.clock.after(WINDOW_MS, () => {
      this.#timer = this.#arm();
      this.#judge();
    });
  }

  #judge(): void {
    const { limits, lag, logger } = this.#options;
    const lagMs = lag.takeP99Ms();
    const shedding = nextShedding(limits, this.#shedding, lagMs);
    if (shedding && !this.#shedding) logger.warn({ lagMs }, 'event loop is late: refusing new calls');
    if (!shedding && this.#shedding) logger.info({ lagMs }, 'event loop recovered: accepting new calls');
    this.#lagMs = lagMs;
    this.#shedding = shedding;
    this.#options.onJudged?.(this);
  }
}
