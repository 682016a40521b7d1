import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Job, Queue } from 'bullmq';
import { z } from 'zod';
import type { BullQueue } from './bull-backend.ts';
import { decodeJobId } from './job-id.ts';
import { shownReason } from './shown-reason.ts';

/** What a payload refers to. Nothing else of it is shown, whatever a later job brings. */
const reference = z.object({
  tenantId: z.string().optional(),
  callId: z.string().optional(),
  submissionId: z.string().optional(),
  id: z.string().optional(),
  profile: z.string().optional(),
  round: z.number().optional(),
  index: z.number().optional(),
});

const MOST_JOBS = 100;
const MOST_REASON_CHARACTERS = 1000;

export interface BoardQueueOptions {
  readonly description: string;
  /** Whether the backend knows who works on its queues; PostgreSQL tells of no worker's address, the embedded store of none. */
  readonly knowsWorkers: boolean;
}

/**
 * A queue as the dashboard shows it: for reading alone, with ids and references, and without what was said, whom it was said
 * to, return values, logs and stack traces.
 */
export class BoardQueue extends BullMQAdapter {
  readonly #knowsWorkers: boolean;

  constructor(queue: BullQueue, { description, knowsWorkers }: BoardQueueOptions) {
    // A queue's type names its backend; the adapter knows Redis by name and reads from any.
    super(queue as unknown as Queue, { readOnlyMode: true, description });
    this.#knowsWorkers = knowsWorkers;
    this.setFormatter('data', (payload: unknown) => reference.safeParse(payload).data ?? {});
    this.setFormatter('returnValue', () => null);
    this.setFormatter('progress', () => 0);
    this.setFormatter('name', ({ id }: { readonly id?: unknown }) => decodeJobId(typeof id === 'string' ? id : ''));
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const job = await super.getJob(id);
    return job === undefined ? undefined : withoutWords(job);
  }

  override async getJobs(...[statuses, start = 0, end = start]: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    const jobs = await super.getJobs(statuses, start, Math.min(end, start + MOST_JOBS - 1));
    return jobs.map((job) => withoutWords(job));
  }

  override async getJobLogs(): Promise<string[]> {
    return [];
  }

  /** Jobs here have no children. */
  override async getFlowProducer(): Promise<null> {
    return null;
  }

  override getWorkers(): ReturnType<BullMQAdapter['getWorkers']> {
    return this.#knowsWorkers ? super.getWorkers() : Promise.resolve(null);
  }
}

/** @param job just read, so that nobody else holds it */
function withoutWords(job: Job): Job {
  // BullMQ declares both as always there, and leaves them out where nothing failed.
  const { failedReason, deferredFailure } = job as Partial<Job>;
  if (failedReason !== undefined) job.failedReason = shownReason(failedReason).slice(0, MOST_REASON_CHARACTERS);
  if (deferredFailure !== undefined) job.deferredFailure = shownReason(deferredFailure).slice(0, MOST_REASON_CHARACTERS);
  job.stacktrace = [];
  return job;
}
