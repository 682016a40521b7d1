import type { BaseAdapter } from '@bull-board/api/baseAdapter';
import { OffhookError } from '../../kernel/errors.ts';

/** Anything that JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** One run of a job. */
export interface JobRun {
  readonly name: string;
  readonly id: string;
  /** As it was enqueued; its handler parses it. */
  readonly payload: unknown;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Whether a failure of this try is the job's. */
  readonly isLast: boolean;
  /** Aborts when the worker stops: the job then goes back to the queue and the try does not count. */
  readonly signal: AbortSignal;
}

/** Whether the queue gives the job up when this try ends with this error. */
export function isFinal(run: JobRun, error: unknown): boolean {
  return run.isLast || (error instanceof OffhookError && !error.retryable);
}

/**
 * Does one job. May run more than once for the same id, even at once in two processes: what it does must bear that.
 * Throwing an OffhookError that is not retryable fails the job at once; anything else thrown is tried again.
 */
export type JobHandler = (run: JobRun) => Promise<void>;

export interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  /** Waiting for their time: enqueued with a delay, or between two tries. */
  readonly delayed: number;
  readonly failed: number;
  readonly completed: number;
}

export interface FailedJob {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly reason: string;
  /** Wall time. */
  readonly failedAtMs: number;
}

export interface WorkOptions {
  /** Jobs at once, 1 when absent. */
  readonly concurrency?: number;
  /** Stops the work, as `stop` does. */
  readonly signal?: AbortSignal;
}

export interface Work extends AsyncDisposable {
  /** Takes no further job, gives those in hand a short while to finish, then aborts them and puts them back. */
  stop(): Promise<void>;
}

/** A queue as the dashboard reads it; nothing can be changed through it. */
export type ShownQueue = BaseAdapter;

export interface JobQueue extends AsyncDisposable {
  readonly backend: 'redis' | 'postgres';
  /**
   * Durable when it returns. An id that is known already, done or not, changes nothing: the id is what the job is about.
   * @param name which kind of job; letters, digits and dashes
   * @param payload references, not content: what it names lives in the store
   * @throws QueueUnavailableError when the queue cannot take it now
   */
  enqueue(name: string, id: string, payload: JsonValue, options?: { readonly delayMs?: number }): Promise<void>;
  /** The same for many jobs at once. Not together or not at all: after a failure, ask again for all of them. */
  enqueueMany(name: string, jobs: readonly { readonly id: string; readonly payload: JsonValue }[]): Promise<void>;
  /** Starts doing jobs of one name. Failures are tried again with growing delays, a bounded number of times. */
  work(name: string, handler: JobHandler, options?: WorkOptions): Work;
  counts(name: string): Promise<JobCounts>;
  /** Enqueue time of the job that waits longest for a worker, in wall time; undefined without waiting jobs. */
  oldestMs(name: string): Promise<number | undefined>;
  /** Jobs that will not be tried again, latest first. */
  failed(name: string, options?: { readonly limit?: number }): Promise<readonly FailedJob[]>;
  /** Puts a failed job back with all its tries. @returns false when there is no such failed job */
  retry(name: string, id: string): Promise<boolean>;
  retryAll(name: string): Promise<void>;
  /** For the dashboard: a read-only view of the queue, without words and numbers of callers. Closed together with this one. */
  shown(name: string, description: string): Promise<ShownQueue>;
  /** Stops all work started here and lets go of all connections. */
  close(): Promise<void>;
}
