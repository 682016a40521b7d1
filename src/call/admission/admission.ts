import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { LoopLag } from '../../observability/loop-lag.ts';

/** When a gateway stops taking calls, and when it takes them again. */
export interface AdmissionLimits {
  /** Live calls at once. */
  readonly maximum: number;
  /** Lag of the event loop, in ms, from which new calls are refused. */
  readonly refuseLagMs: number;
  /** Lag down to which they are refused still; not above `refuseLagMs`, so that a gateway at its limit does not flicker. */
  readonly acceptLagMs: number;
}

/** How full the process is when a call asks to be taken. */
export interface Load {
  readonly active: number;
  /** What `nextShedding` said last. */
  readonly shedding: boolean;
}

/** Whether there is room for one more call; where there is none, which limit was reached. */
export function roomFor(limits: Pick<AdmissionLimits, 'maximum'>, load: Load): 'room' | 'calls' | 'loop-lag' {
  if (load.active >= limits.maximum) return 'calls';
  return load.shedding ? 'loop-lag' : 'room';
}

/** Whether calls are refused for the lag of the event loop, from one measurement of it to the next. */
export function nextShedding(limits: Omit<AdmissionLimits, 'maximum'>, shedding: boolean, lagMs: number): boolean {
  return shedding ? lagMs > limits.acceptLagMs : lagMs >= limits.refuseLagMs;
}

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
