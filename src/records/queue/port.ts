import type { BaseAdapter } from '@bull-board/api/baseAdapter';
import { OffhookError } from '../../kernel/errors.ts';

/** Any JSON value. */
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
  /** As enqueued; the handler parses it. */
  readonly payload: unknown;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Whether a failure of this try fails the job. */
  readonly isLast: boolean;
  /** Aborts when the worker stops: the job returns to the queue and the try does not count. */
  readonly signal: AbortSignal;
}

/** Whether the queue gives up the job after this error. */
export function isFinal(run: JobRun, error: unknown): boolean {
  return run.isLast || (error instanceof OffhookError && !error.retryable);
}

/**
 * Does one job. May run repeatedly for one id, even concurrently in two processes, so it must be idempotent. A non-retryable OffhookError fails the
 * job at once; other errors are retried.
 */
export type JobHandler = (run: JobRun) => Promise<void>;

export interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  /** Jobs waiting for their time: delayed, or between tries. */
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
  /** Concurrent jobs, 1 when absent. */
  readonly concurrency?: number;
  /** Stops the work, as `stop` does. */
  readonly signal?: AbortSignal;
}

export interface Work extends AsyncDisposable {
  /** Takes no more jobs, gives running ones a short time to finish, then aborts and returns them. */
  stop(): Promise<void>;
}

/** A read-only queue for the dashboard. */
export type ShownQueue = BaseAdapter;

export interface JobQueue extends AsyncDisposable {
  readonly backend: 'redis' | 'postgres';
  /**
   * Durable when it returns. A known id, done or not, changes nothing: the id is the job's subject.
   * @param name letters, digits and dashes
   * @param payload references, not content: the store has that
   * @throws QueueUnavailableError when the queue is unavailable
   */
  enqueue(name: string, id: string, payload: JsonValue, options?: { readonly delayMs?: number }): Promise<void>;
  /** The same for many jobs. Not atomic: after a failure, repeat it for all. */
  enqueueMany(name: string, jobs: readonly { readonly id: string; readonly payload: JsonValue }[]): Promise<void>;
  /** Starts doing jobs of one name. Failures are retried with growing delays, a limited number of times. */
  work(name: string, handler: JobHandler, options?: WorkOptions): Work;
  counts(name: string): Promise<JobCounts>;
  /** Enqueue time of the job that waits longest for a worker, in wall time; undefined without waiting jobs. */
  oldestMs(name: string): Promise<number | undefined>;
  /** Jobs that will not be tried again, latest first. */
  failed(name: string, options?: { readonly limit?: number }): Promise<readonly FailedJob[]>;
  /** Puts a failed job back with all its tries. @returns false when there is no such failed job */
  retry(name: string, id: string): Promise<boolean>;
  retryAll(name: string): Promise<void>;
  /** A read-only view for the dashboard, without words and numbers of callers. Closed with this queue. */
  shown(name: string, description: string): Promise<ShownQueue>;
  /** Stops all work and closes all connections. */
  close(): Promise<void>;
}
