import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Store } from '../store/port.ts';
import { OffhookError } from '../kernel/errors.ts';
import { JobSubjectError } from './errors.ts';
import type { ProfileBook } from './analysis/profile-book.ts';
import type { JobHandler, JobQueue, Work } from './port.ts';
import { analyseCall } from './post-call/analyse-call.ts';
import { POST_CALL, postCallSubject } from './post-call/job.ts';
import type { BatchTranscriber } from './post-call/transcriber.ts';

export interface WorkerOptions {
  readonly queue: JobQueue;
  readonly store: Store;
  readonly transcriber: BatchTranscriber;
  /** What analyses ask for; transcript and measures alone when absent. */
  readonly profiles?: ProfileBook | undefined;
  readonly logger: Logger;
  readonly events: Pick<BusinessEvents, 'jobDone' | 'jobFailed'>;
  readonly clock: Clock;
  /** Jobs of one kind at once. */
  readonly concurrency: number;
}

/** Does what is queued after calls, until stopped. Queue and store stay open. */
export function startWorker(options: WorkerOptions): Work {
  const { queue, concurrency } = options;
  const handlers: Readonly<Record<string, JobHandler>> = {
    async [POST_CALL](run) {
      const subject = postCallSubject.safeParse(run.payload);
      if (!subject.success) throw new JobSubjectError(`not a call: ${z.prettifyError(subject.error)}`, false, {});
      await analyseCall(options, subject.data, run.signal);
    },
  };
  const works = Object.entries(handlers).map(([name, handler]) => queue.work(name, logged(handler, options), { concurrency }));
  const stop = async (): Promise<void> => {
    await Promise.all(works.map((work) => work.stop()));
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
        const final = error instanceof OffhookError && !error.retryable;
        events.jobFailed({ job: run.name, jobId: run.id, durationMs, final, error });
      }
      throw error;
    }
  };
}
