import { abortable, sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import { type JobQueue, type JobHandler, type Work, isFinal } from './port.ts';
import type { BusinessEvents } from '../../observability/events.ts';

export interface WorkerOptions {
  readonly queue: JobQueue;
  /** Handlers by queue name. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  /** Re-enqueues lost work; not done when absent. */
  readonly sweep?: () => Promise<void>;
  readonly logger: Logger;
  readonly events: Pick<BusinessEvents, 'jobDone' | 'jobFailed'>;
  readonly clock: Clock;
  /** Concurrent jobs of one kind. */
  readonly concurrency: number;
  /** Interval of the watchdog, in ms; its own when absent. */
  readonly watchEveryMs?: number;
}

/** Works on the queues until stopped; a stuck queue's work is restarted. Queue and store stay open. */
export function startWorker(options: WorkerOptions): Work {
  const { queue, handlers, concurrency, clock, logger } = options;
  const works = new Map<string, Work>();
  let stopped: Promise<void> | undefined;
  const start = (name: string, handler: JobHandler): void => {
    works.set(name, queue.work(name, logged(handler, options), { concurrency }));
  };
  for (const [name, handler] of Object.entries(handlers)) start(name, handler);
  const restart = async (name: string): Promise<void> => {
    const handler = handlers[name];
    await works.get(name)?.stop();
    if (handler !== undefined && stopped === undefined) start(name, handler);
  };
  const { sweep = async () => {}, watchEveryMs } = options;
  const everyMs = watchEveryMs === undefined ? {} : { everyMs: watchEveryMs };
  const watchdog = new Watchdog({ queue, names: Object.keys(handlers), restart, sweep, clock, logger, ...everyMs });
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await watchdog.stop();
      await Promise.all([...works.values()].map((work) => work.stop()));
    })();
    return stopped;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

/** One log line for each run: ids and times, no words. */
function logged(handler: JobHandler, { logger, clock, events }: WorkerOptions): JobHandler {
  return async (run) => {
    const startedMs = clock.nowMs();
    const facts = { job: run.name, jobId: run.id, attempt: run.attempt };
    try {
      await handler(run);
      events.jobDone({ job: run.name, jobId: run.id, durationMs: Math.round(clock.nowMs() - startedMs) });
    } catch (error) {
      if (run.signal.aborted) logger.info(facts, 'job returned to the queue');
      else {
        const durationMs = Math.round(clock.nowMs() - startedMs);
        events.jobFailed({ job: run.name, jobId: run.id, durationMs, final: isFinal(run, error), error });
      }
      throw error;
    }
  };
}

export interface WatchdogParts {
  readonly queue: Pick<JobQueue, 'counts'>;
  /** Queues this process works on. */
  readonly names: readonly string[];
  /** Restarts the work on a queue. */
  readonly restart: (name: string) => Promise<void>;
  /** Re-enqueues lost work. */
  readonly sweep: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between two looks, in ms; 30,000 when absent. */
  readonly everyMs?: number;
  /** A queue with waiting jobs but none running or finishing for this long is stuck; 120,000 ms when absent. */
  readonly stillMs?: number;
}

/** Watches the queues: restarts stuck work, and re-enqueues lost work. */
export class Watchdog implements AsyncDisposable {
  readonly #parts: WatchdogParts;
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  readonly #looks = new Map<string, { readonly done: number; readonly sinceMs: number }>();

  constructor(parts: WatchdogParts) {
    this.#parts = parts;
    this.#finished = this.#run();
  }

  /** Ends at once, even during a check. */
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
    logger.error({ queue: name, waiting, stillMs: Math.round(nowMs - before.sinceMs) }, 'queue stalled; its worker restarts');
    this.#looks.set(name, { done, sinceMs: nowMs });
    await restart(name);
  }

  async #guarded(what: string, run: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    try {
      // An unresponsive queue or store must not delay the end; its request may still be carried out.
      await abortable(run(), signal);
    } catch (error) {
      // Store or queue are unavailable, which is reported elsewhere.
      const isAway = error instanceof OffhookError && error.retryable;
      if (!signal.aborted) this.#parts.logger[isAway ? 'debug' : 'warn']({ what, error }, 'queue watchdog check failed');
    }
  }
}
