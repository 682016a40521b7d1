import { abortable, sleep } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { JobQueue } from './port.ts';

export interface WatchdogParts {
  readonly queue: Pick<JobQueue, 'counts'>;
  /** The queues that this process works on. */
  readonly names: readonly string[];
  /** Stops the work on a queue and starts it anew. */
  readonly restart: (name: string) => Promise<void>;
  /** Asks again for what a queue may have lost. */
  readonly sweep: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between two looks, in ms; 30,000 when absent. */
  readonly everyMs?: number;
  /** A queue in which jobs wait, and none is being done or gets done, for so long stands still; 120,000 ms when absent. */
  readonly stillMs?: number;
}

/** Looks after the queues: starts the work on one anew that stands still, and asks again for what was lost. */
export class Watchdog implements AsyncDisposable {
  readonly #parts: WatchdogParts;
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  readonly #looks = new Map<string, { readonly done: number; readonly sinceMs: number }>();

  constructor(parts: WatchdogParts) {
    this.#parts = parts;
    this.#finished = this.#run();
  }

  /** Ends at once, also in the middle of a look. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the watchdog stops'));
    await this.#finished;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { names, sweep, clock, everyMs = 30_000 } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#guarded('sweep', sweep);
      for (const name of names) await this.#guarded(name, () => this.#look(name));
      await sleep(clock, everyMs, signal).catch(() => {});
    }
  }

  async #look(name: string): Promise<void> {
    const { queue, restart, clock, logger, stillMs = 120_000 } = this.#parts;
    const { waiting, active, completed, failed } = await queue.counts(name);
    const nowMs = clock.nowMs();
    const before = this.#looks.get(name);
    const done = completed + failed;
    if (waiting === 0 || active > 0 || before === undefined || before.done !== done) {
      this.#looks.set(name, { done, sinceMs: nowMs });
      return;
    }
    if (nowMs - before.sinceMs < stillMs) return;
    logger.error(
      { queue: name, waiting, stillMs: Math.round(nowMs - before.sinceMs) },
      'a queue stands still; its work is started anew',
    );
    this.#looks.set(name, { done, sinceMs: nowMs });
    await restart(name);
  }

  async #guarded(what: string, run: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    try {
      // A queue or store that does not answer must not hold up the end; what was asked of it may still happen, as after any look.
      await abortable(run(), signal);
    } catch (error) {
      // Store or queue are away; those who need them say so.
      const isAway = error instanceof OffhookError && error.retryable;
      if (!signal.aborted) this.#parts.logger[isAway ? 'debug' : 'warn']({ what, error }, 'the watchdog could not look');
    }
  }
}
