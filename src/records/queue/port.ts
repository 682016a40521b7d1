import type { BackoffPolicy } from '../../kernel/backoff.ts';
import type { BaseAdapter } from '@bull-board/api/baseAdapter';
import { OffhookError } from '../../kernel/errors.ts';

/** Analyses one call after its end, or compresses its recording. */
export const POST_CALL = 'post-call';
/** Analyses one recording from elsewhere. */
export const ANALYSES = 'analyses';
/** Sends one delivery to one endpoint. */
export const WEBHOOKS = 'webhooks';
/** Erases data whose retention time is over. */
export const RETENTION = 'retention';

/** Places one call of a campaign. Done by gateways, not by workers. */
export const DIALS = 'dials';

/** Makes promised call-backs. Gateways work on it too. */
export const CALL_BACKS = 'call-backs';

/** Queues of workers. */
export const QUEUES = [POST_CALL, ANALYSES, WEBHOOKS, RETENTION] as const;
export type QueueName = (typeof QUEUES)[number];
/** All queues. */
export const ALL_QUEUES = [...QUEUES, DIALS, CALL_BACKS] as const;
export type AnyQueueName = (typeof ALL_QUEUES)[number];

/** Purposes, for the dashboard. */
export const QUEUE_PURPOSES: Readonly<Record<AnyQueueName, string>> = {
  'post-call': 'Analyses of calls after their end',
  analyses: 'Analyses of recordings from elsewhere',
  webhooks: 'Deliveries of events to their endpoints',
  retention: 'Erasure of what has been kept for long enough',
  dials: 'Calls of campaigns on their way to a carrier',
  'call-backs': 'Calls that were promised to callers while a bot’s server was down',
};

export interface RetryPolicy {
  /** Total tries. */
  readonly attempts: number;
  readonly backoff: BackoffPolicy;
  /** How long, in seconds, and how many done jobs are remembered, to recognise repeated ids; a week when absent. */
  readonly remember?: { readonly age: number; readonly count: number };
}

/**
 * A dial without a free place is retried by any process with one, until the gate's approval ends, after a minute. Its id need not be known longer:
 * the stored attempt shows that it was placed.
 */
export const DIAL_RETRY: RetryPolicy = {
  attempts: 300,
  backoff: { firstMs: 400, factor: 1, maxMs: 400, jitter: 0.25 },
  remember: { age: 600, count: 1000 },
};

/** About two days: after one minute, two, four, then every fifteen. The person is called once. */
export const CALL_BACK_RETRY: RetryPolicy = {
  attempts: 200,
  backoff: { firstMs: 60_000, factor: 2, maxMs: 900_000, jitter: 0.1 },
};

/** Sixteen tries over a day: 5 s, 15 s, 45 s, then longer, up to three hours apart. */
export const WEBHOOK_RETRY: RetryPolicy = {
  attempts: 16,
  backoff: { firstMs: 5_000, factor: 3, maxMs: 10_800_000, jitter: 0.1 },
};

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
