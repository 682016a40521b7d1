import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OffhookError } from '../../src/kernel/errors.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JobHandler, JobQueue, JobRun } from '../../src/records/queue/port.ts';
import { type RetryPolicy, openQueue } from '../../src/records/queue/bull-queue.ts';
import type { Database } from '../../src/records/database.ts';
import { type TestDatabases, embeddedDatabases, onProblem, serverDatabases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { HANGS_MS } from '../support/patience.ts';
import { type TestServer, startRedis } from '../support/redis-server.ts';
import { requireTool } from '../support/requires.ts';

class NeverError extends OffhookError {
  readonly code = 'OFFHOOK_TEST_NEVER';
  readonly retryable = false;
}

const fast: RetryPolicy = { attempts: 3, backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 } };
const redisProgram = requireTool('redis-server');
const postgresProgram = requireTool('postgres');

describe.each([
  { place: 'the embedded store', backend: 'postgres', installed: true },
  { place: 'a Postgres server', backend: 'postgres', installed: postgresProgram !== undefined },
  { place: 'Redis', backend: 'redis', installed: redisProgram !== undefined },
] as const)('the job queue on $place', ({ place, backend, installed }) => {
  let databases: TestDatabases | undefined;
  let redis: TestServer | undefined;
  let database: Database;

  beforeAll(async () => {
    if (!installed) return;
    if (backend === 'redis') redis = await startRedis(redisProgram ?? '');
    databases = place === 'a Postgres server' ? await serverDatabases() : await embeddedDatabases();
    database = await databases!.open();
  });

  afterAll(async () => {
    await database?.close();
    await databases?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });

  const open = (options: { retry?: RetryPolicy; stalledMs?: number; graceMs?: number } = {}): JobQueue =>
    openQueue({ redisUrl: redis?.url, database, clock: systemClock, onProblem, retry: fast, ...options });

  const collecting = (): { runs: JobRun[]; handler: JobHandler } => {
    const runs: JobRun[] = [];
    return { runs, handler: async (run) => void runs.push(run) };
  };

  it.runIf(installed)('enqueues many jobs at once, each id once', async () => {
    await using queue = open();
    const { runs, handler } = collecting();
    const beforeMs = Date.now();
    await queue.enqueue('many', 'm:1', { n: 1 });
    const firstMs = await queue.oldestMs('many');
    expect(firstMs).toBeGreaterThanOrEqual(beforeMs);
    const jobs = Array.from({ length: 60 }, (_, n) => ({ id: `m:${n}`, payload: { n } }));
    await queue.enqueueMany('many', jobs);
    await queue.enqueueMany('many', [...jobs, ...jobs]);
    expect((await queue.counts('many')).waiting).toBe(60);
    expect(await queue.oldestMs('many')).toBe(firstMs);
    queue.work('many', handler, { concurrency: 10 });
    await eventually('all jobs to run', () => runs.length === 60);
    await queue.enqueueMany('many', jobs);
    expect((await queue.counts('many')).waiting).toBe(0);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(60);
    expect(runs.find(({ id }) => id === 'm:7')?.payload).toEqual({ n: 7 });
  });

  it.runIf(installed)("hands a job's id and payload to its handler unchanged", async () => {
    await using queue = open();
    const { runs, handler } = collecting();
    await queue.enqueue('plain', 'post-call:call_1:1', { callId: 'call_1', text: 'हाँ', list: [1, null] });
    queue.work('plain', handler);
    await eventually('the job to run', () => runs.length === 1);
    expect(queue.backend).toBe(backend);
    expect(runs[0]).toMatchObject({
      name: 'plain',
      id: 'post-call:call_1:1',
      payload: { callId: 'call_1', text: 'हाँ', list: [1, null] },
      attempt: 1,
    });
  });

  it.runIf(installed)('wakes a waiting worker for each new job', async () => {
    await using queue = open();
    const { runs, handler } = collecting();
    queue.work('wake', handler);
    for (const id of ['a', 'b', 'c']) {
      await queue.enqueue('wake', id, null);
      // A worker that nothing wakes looks again after five seconds.
      await eventually(`job ${id} to run`, () => runs.some((run) => run.id === id), HANGS_MS / 15);
    }
    expect(runs.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it.runIf(installed)('does a job once, however often it is enqueued, before and after it is done', async () => {
    await using queue = open();
    const { runs, handler } = collecting();
    await queue.enqueue('once', '42', { first: true });
    await queue.enqueue('once', '42', { first: false });
    queue.work('once', handler);
    await eventually('the job to be done', async () => (await queue.counts('once')).completed === 1);
    await queue.enqueue('once', '42', { first: false });
    await queue.enqueue('once', 'after', null);
    await eventually('the next job to run', () => runs.some((run) => run.id === 'after'));
    expect(runs.map((run) => run.id)).toEqual(['42', 'after']);
    expect(runs[0]?.payload).toEqual({ first: true });
  });

  it.runIf(installed)('keeps a delayed job until its time', async () => {
    await using queue = open();
    const { runs, handler } = collecting();
    const startedMs = Date.now();
    await queue.enqueue('later', 'x', null, { delayMs: 400 });
    expect(await queue.counts('later')).toMatchObject({ delayed: 1, waiting: 0 });
    expect(await queue.oldestMs('later')).toBeUndefined();
    queue.work('later', handler);
    await eventually('the job to run', () => runs.length === 1);
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(395);
  });

  it.runIf(installed)('tries a failing job again, a bounded number of times, and keeps the reason', async () => {
    await using queue = open();
    const attempts: number[] = [];
    queue.work('failing', async (run) => {
      attempts.push(run.attempt);
      throw new Error(`no ${run.attempt}`);
    });
    await queue.enqueue('failing', 'f', { callId: 'c' });
    await eventually('the job to fail for good', async () => (await queue.counts('failing')).failed === 1);
    expect(attempts).toEqual([1, 2, 3]);
    expect(await queue.failed('failing')).toEqual([
      { id: 'f', payload: { callId: 'c' }, attempts: 3, reason: 'no 3', failedAtMs: expect.any(Number) },
    ]);
  });

  it.runIf(installed)('does not retry a job whose error is not retryable', async () => {
    await using queue = open();
    let tries = 0;
    queue.work('never', async () => {
      tries += 1;
      throw new NeverError('not this one');
    });
    await queue.enqueue('never', 'n', null);
    await eventually('the job to fail for good', async () => (await queue.counts('never')).failed === 1);
    expect(tries).toBe(1);
    expect((await queue.failed('never'))[0]?.reason).toBe('OFFHOOK_TEST_NEVER: not this one');
  });

  it.runIf(installed)('retries failed jobs one by one or all, with all their tries', async () => {
    await using queue = open();
    let broken = true;
    const done: string[] = [];
    const attempts: number[] = [];
    queue.work('again', async (run) => {
      if (run.id === 'one') attempts.push(run.attempt);
      if (broken || (run.id === 'one' && run.attempt < 3)) throw new Error('broken');
      done.push(run.id);
    });
    for (const id of ['one', 'two', 'three']) await queue.enqueue('again', id, null);
    await eventually('all to fail', async () => (await queue.counts('again')).failed === 3);
    broken = false;
    attempts.length = 0;
    expect(await queue.retry('again', 'nobody')).toBe(false);
    expect(await queue.retry('again', 'one')).toBe(true);
    await eventually('one to be done', () => done.includes('one'));
    expect(attempts).toEqual([1, 2, 3]);
    await queue.retryAll('again');
    await eventually('all to be done', () => done.length === 3);
    expect(await queue.failed('again')).toEqual([]);
  });

  it.runIf(installed)('runs as many jobs at once as it was told to', async () => {
    await using queue = open();
    let now = 0;
    let most = 0;
    const release: (() => void)[] = [];
    queue.work(
      'parallel',
      async () => {
        most = Math.max(most, (now += 1));
        await new Promise<void>((resolve) => release.push(resolve));
        now -= 1;
      },
      { concurrency: 2 },
    );
    for (const id of ['a', 'b', 'c', 'd']) await queue.enqueue('parallel', id, null);
    await eventually('two to run', () => release.length === 2);
    expect(await queue.counts('parallel')).toMatchObject({ active: 2, waiting: 2 });
    await eventually('all to be done', async () => {
      release.splice(0).forEach((go) => go());
      return (await queue.counts('parallel')).completed === 4;
    });
    expect(most).toBe(2);
  });

  it.runIf(installed)('puts a job back that a stop cut off, without counting the attempt', async () => {
    const first = open({ graceMs: 0 });
    const started = new Promise<void>((resolve) => {
      first.work('cut', async (run) => {
        resolve();
        await new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(new Error('aborted'))));
      });
    });
    await first.enqueue('cut', 'c', null);
    await started;
    await first.close();
    await using second = open();
    const { runs, handler } = collecting();
    second.work('cut', handler);
    await eventually('the job to run again', () => runs.length === 1);
    expect(runs[0]?.attempt).toBe(1);
  });

  it.runIf(installed)('stops work when its signal aborts, and refuses to enqueue when closed', async () => {
    const queue = open();
    const stopping = new AbortController();
    const { runs, handler } = collecting();
    const work = queue.work('signal', handler, { signal: stopping.signal });
    stopping.abort();
    await work.stop();
    await queue.enqueue('signal', 's', null);
    expect(await queue.counts('signal')).toMatchObject({ waiting: 1, active: 0 });
    await queue.close();
    await expect(queue.enqueue('signal', 't', null)).rejects.toMatchObject({
      code: 'OFFHOOK_QUEUE_UNAVAILABLE',
      retryable: true,
    });
    expect(runs).toEqual([]);
  });

  it.runIf(installed)('shows jobs with references and error codes in place of words', async () => {
    await using queue = open();
    await queue.enqueue('shown', 's:1', { tenantId: 'default', callId: 'call_1', said: 'my mother is ill' });
    queue.work('shown', async () => {
      throw new NeverError('"my mother is ill" is not what +919812345678 said');
    });
    await eventually('the job to fail', async () => (await queue.counts('shown')).failed === 1);
    const shown = await queue.shown('shown', 'what it is for');
    expect([shown.getName(), shown.getDescription(), shown.readOnlyMode]).toEqual(['shown', 'what it is for', true]);
    expect(await shown.getJobCounts()).toMatchObject({ failed: 1, waiting: 0 });
    const [job] = await shown.getJobs(['failed'], 0, 9);
    const { data, failedReason, stacktrace } = job?.toJSON() ?? {};
    expect(shown.format('data', data)).toEqual({ tenantId: 'default', callId: 'call_1' });
    expect([failedReason, stacktrace]).toEqual(['OFFHOOK_TEST_NEVER: … is not what [phone] said', []]);
    // Only Redis tells who works on a queue; what the server says of itself comes by one of two ways.
    expect(await shown.getWorkers()).toEqual(
      backend === 'redis' ? [expect.objectContaining({ addr: expect.any(String) })] : null,
    );
    const info = (await shown.getRedisInfo()) ?? JSON.stringify(await shown.getDatastoreStats());
    expect(info).toContain(backend === 'redis' ? 'redis_version' : '"backend":"postgres"');
  });
});
