import { type Job, type Processor, DelayedError, UnrecoverableError } from 'bullmq';
import { sleep, within } from '../../kernel/waiting.ts';
import { backoffDelayMs } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OffhookError, errorText } from '../../kernel/errors.ts';
import type { Database } from '../database.ts';
import { type BullBackend, type BullQueue, postgresBackend, redisBackend, decodeJobId, encodeJobId } from './bull-backend.ts';
import { QueueUnavailableError } from '../errors.ts';
import type {
  FailedJob,
  JobCounts,
  JobHandler,
  JobQueue,
  JsonValue,
  RetryPolicy,
  ShownQueue,
  Work,
  WorkOptions,
} from './port.ts';

export interface QueueOptions {
  /** `REDIS_URL`; undefined keeps jobs in the database. */
  readonly redisUrl: string | undefined;
  readonly database: Database;
  readonly clock: Clock;
  /** Hears of lost connections. */
  readonly onProblem: (error: Error) => void;
  readonly retry?: RetryPolicy;
  /** For jobs of these names, in place of `retry`. */
  readonly retries?: Readonly<Record<string, RetryPolicy>>;
  /** Silence after which a worker loses its job to another, in ms; 30,000 when absent. */
  readonly stalledMs?: number;
  /** How long running jobs may continue after a stop, in ms; 5,000 when absent. */
  readonly graceMs?: number;
}

/** About an hour and a half from the first try to the last. */
export const JOB_RETRY: RetryPolicy = { attempts: 8, backoff: { firstMs: 2_000, factor: 4, maxMs: 3_600_000, jitter: 0.2 } };

/** How long done jobs are remembered, to recognise repeated ids. */
const REMEMBER_DONE = { age: 7 * 24 * 3600, count: 100_000 };

const CALL_DEADLINE_MS = 10_000;

const CLOSE_DEADLINE_MS = 2_000;
const alwaysTrue = (): boolean => true;

/** Most takeovers of a stalled job: workers may be killed often, but a job that kills them should stop. */
const MAX_TAKEOVERS = 10;

/** Opens the job queue on Redis, or in the database. Closing it leaves the database open. */
export function openQueue(options: QueueOptions): JobQueue {
  const { redisUrl, database, clock, onProblem } = options;
  const backend = redisUrl === undefined ? postgresBackend(database, clock, onProblem) : redisBackend(redisUrl, clock, onProblem);
  return new BullJobQueue(backend, options);
}

class BullJobQueue implements JobQueue {
  readonly #bull: BullBackend;
  readonly #options: QueueOptions;
  readonly #queues = new Map<string, BullQueue>();
  readonly #work = new Set<Work>();
  #closed: Promise<void> | undefined;

  constructor(bull: BullBackend, options: QueueOptions) {
    this.#bull = bull;
    this.#options = options;
  }

  get backend(): 'redis' | 'postgres' {
    return this.#bull.kind;
  }

  async enqueue(name: string, id: string, payload: JsonValue, options: { delayMs?: number } = {}): Promise<void> {
    const jobId = encodeJobId(id);
    const delay = Math.round(options.delayMs ?? 0);
    await this.#ask(name, (queue) => queue.add(name, payload, { jobId, delay }));
  }

  async enqueueMany(name: string, jobs: readonly { id: string; payload: JsonValue }[]): Promise<void> {
    if (jobs.length === 0) return;
    const added = jobs.map(({ id, payload }) => ({ name, data: payload, opts: { jobId: encodeJobId(id) } }));
    await this.#ask(name, (queue) => queue.addBulk(added));
  }

  work(name: string, handler: JobHandler, options: WorkOptions = {}): Work {
    const { clock, stalledMs = 30_000, graceMs = 5_000 } = this.#options;
    const stopping = new AbortController();
    const run: Processor = (job, token) => this.#do(job, token, handler, stopping.signal);
    const worker = this.#bull.worker(name, run, {
      concurrency: options.concurrency ?? 1,
      lockDuration: stalledMs,
      stalledInterval: stalledMs,
      maxStalledCount: MAX_TAKEOVERS,
      settings: {
        backoffStrategy: (attemptsMade) =>
          Math.round(backoffDelayMs(this.#retryOf(name).backoff, attemptsMade - 1, Math.random())),
      },
    });
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopped ??= (async () => {
        const done = new AbortController();
        const grace = sleep(clock, graceMs, done.signal).catch(() => {});
        // A worker closed while connecting keeps the new connection (bullmq 6.7.0).
        await Promise.race([worker.waitUntilReady().catch(() => {}), grace]);
        const closed = worker.close();
        await Promise.race([closed, grace]);
        done.abort();
        stopping.abort(new DelayedError('the worker is stopping'));
        // A worker without its server does not close; others take its jobs once they count as stalled.
        if (!(await this.#inTime(closed))) await this.#inTime(worker.close(true));
        this.#work.delete(work);
      })();
      return stopped;
    };
    const work: Work = { stop, [Symbol.asyncDispose]: stop };
    this.#work.add(work);
    options.signal?.addEventListener('abort', () => void stop().catch(this.#options.onProblem), { once: true });
    if (options.signal?.aborted === true) void stop().catch(this.#options.onProblem);
    return work;
  }

  async counts(name: string): Promise<JobCounts> {
    const counts = await this.#ask(name, (queue) =>
      queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'),
    );
    const of = (state: string): number => counts[state] ?? 0;
    return {
      waiting: of('waiting') + of('prioritized'),
      active: of('active'),
      delayed: of('delayed'),
      failed: of('failed'),
      completed: of('completed'),
    };
  }

  async oldestMs(name: string): Promise<number | undefined> {
    return this.#ask(name, async (queue) => {
      const { waiting = 0 } = await queue.getJobCounts('waiting');
      // On PostgreSQL the newest is always first (bullmq 6.7.0).
      const at = this.backend === 'postgres' ? waiting - 1 : 0;
      const [oldest] = waiting === 0 ? [] : await queue.getWaiting(at, at);
      return oldest?.timestamp;
    });
  }

  async failed(name: string, options: { limit?: number } = {}): Promise<readonly FailedJob[]> {
    const jobs = await this.#ask(name, (queue) => queue.getFailed(0, (options.limit ?? 100) - 1));
    return jobs.map((job) => ({
      id: decodeJobId(job.id ?? ''),
      payload: job.data,
      attempts: job.attemptsMade,
      reason: job.failedReason,
      failedAtMs: job.finishedOn ?? 0,
    }));
  }

  async retry(name: string, id: string): Promise<boolean> {
    return this.#ask(name, async (queue) => {
      const job = await queue.getJob(encodeJobId(id));
      if (job === undefined || !(await job.isFailed())) return false;
      await job.retry('failed', { resetAttemptsMade: true });
      return true;
    });
  }

  async retryAll(name: string): Promise<void> {
    for (const { id } of await this.failed(name, { limit: 10_000 })) await this.retry(name, id);
  }

  async shown(name: string, description: string): Promise<ShownQueue> {
    // Loaded only for a dashboard, as it takes time.
    const { BoardQueue } = await import('./board-queue.ts');
    return new BoardQueue(this.#queue(name), { description, knowsWorkers: this.#bull.kind === 'redis' });
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      await Promise.all([...this.#work].map((work) => work.stop()));
      await Promise.all([...this.#queues.values()].map((queue) => this.#inTime(queue.close())));
      await this.#bull.close();
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #do(job: Job, token: string | undefined, handler: JobHandler, signal: AbortSignal): Promise<void> {
    const run = {
      name: job.name,
      id: decodeJobId(job.id ?? ''),
      payload: job.data as unknown,
      attempt: job.attemptsMade + 1,
      isLast: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
      signal,
    };
    try {
      await handler(run);
    } catch (error) {
      if (signal.aborted) {
        // Returned to the queue at once; BullMQ does not count such a try.
        await job.moveToDelayed(this.#options.clock.wallMs(), token);
        throw new DelayedError();
      }
      const reason = error instanceof OffhookError ? `${error.code}: ${error.message}` : errorText(error);
      if (error instanceof OffhookError && !error.retryable) throw new UnrecoverableError(reason);
      throw new Error(reason, { cause: error });
    }
  }

  #retryOf(name: string): RetryPolicy {
    return this.#options.retries?.[name] ?? this.#options.retry ?? JOB_RETRY;
  }

  /** @returns whether it settled before the close's deadline */
  #inTime(ending: Promise<unknown>): Promise<boolean> {
    return within(this.#options.clock, CLOSE_DEADLINE_MS, ending.then(alwaysTrue, alwaysTrue), false);
  }

  /** Calls BullMQ with a deadline: it waits for a lost server without limit. */
  async #ask<Answer>(name: string, ask: (queue: BullQueue) => Promise<Answer>): Promise<Answer> {
    if (this.#closed !== undefined) throw new QueueUnavailableError('the queue is closed');
    const done = new AbortController();
    const late = sleep(this.#options.clock, CALL_DEADLINE_MS, done.signal).then(() => {
      throw new Error(`no answer within ${CALL_DEADLINE_MS} ms`);
    });
    const queue = this.#queue(name);
    const asked = queue.waitUntilReady().then(() => ask(queue));
    try {
      return await Promise.race([asked, late]);
    } catch (error) {
      throw new QueueUnavailableError('the job queue cannot be used now', { cause: error, facts: { name } });
    } finally {
      done.abort();
      late.catch(() => {});
      asked.catch(() => {});
    }
  }

  #queue(name: string): BullQueue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = this.#bull.queue(name, {
      attempts: this.#retryOf(name).attempts,
      backoff: { type: 'custom' },
      removeOnComplete: this.#retryOf(name).remember ?? REMEMBER_DONE,
      removeOnFail: false,
      stackTraceLimit: 3,
    });
    this.#queues.set(name, queue);
    return queue;
  }
}
