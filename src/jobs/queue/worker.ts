import type { Clock } from '../../kernel/clock.ts';
import type { BusinessEvents } from '../../observability/events.ts';
import type { Logger } from '../../observability/logger.ts';
import type { JobHandler, JobQueue, Work } from './port.ts';
import { isFinal } from '../after-call/post-call-job.ts';
import { Watchdog } from './watchdog.ts';

export interface WorkerOptions {
  readonly queue: JobQueue;
  /** What is done, by the queue's name. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  /** Asks again for what a queue may have lost; nothing is asked for when absent. */
  readonly sweep?: () => Promise<void>;
  readonly logger: Logger;
  readonly events: Pick<BusinessEvents, 'jobDone' | 'jobFailed'>;
  readonly clock: Clock;
  /** Jobs of one kind at once. */
  readonly concurrency: number;
  /** Between two looks of the watchdog, in ms; its own when absent. */
  readonly watchEveryMs?: number;
}

/** Does what is queued, until stopped; work that stands still is started anew. Queue and store stay open. */
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

/** One line for each run: ids and times, nothing of what was said. */
function logged(handler: JobHandler, { logger, clock, events }: WorkerOptions): JobHandler {
  return async (run) => {
    const startedMs = clock.nowMs();
    const facts = { job: run.name, jobId: run.id, attempt: run.attempt };
    try {
      await handler(run);
      events.jobDone({ job: run.name, jobId: run.id, durationMs: Math.round(clock.nowMs() - startedMs) });
    } catch (error) {
      if (run.signal.aborted) logger.info(facts, 'job put back');
      else {
        const durationMs = Math.round(clock.nowMs() - startedMs);
        events.jobFailed({ job: run.name, jobId: run.id, durationMs, final: isFinal(run, error), error });
      }
      throw error;
    }
  };
}
