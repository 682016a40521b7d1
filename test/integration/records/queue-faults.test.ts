import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JobRun } from '../../../src/records/queue/port.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase } from '../../../src/records/database.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { startRedis } from '../../support/redis-server.ts';
import { requireTool } from '../../support/requires.ts';
import { nodeArguments } from '../../support/program.ts';

const childProgram = fileURLToPath(new URL('../../support/worker-child.ts', import.meta.url));
const redisProgram = requireTool('redis-server');

// Most of it is waiting, for processes to start and for locks to run out.
describe.concurrent('the job queue', () => {
  it('gives the job of a killed worker to another worker', async () => {
    await using folder = await temporaryFolder();
    await using database = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
    await using queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem, stalledMs: 300 });
    await queue.enqueue('killed', 'k', { n: 1 });
    const child = run(process.execPath, [...(await nodeArguments(childProgram)), folder.path, 'killed']);
    try {
      await eventually('the child to take the job', () => child.output() === 'peer k\n');
    } finally {
      await child.stop('SIGKILL');
    }
    const runs: JobRun[] = [];
    queue.work('killed', async (taken) => void runs.push(taken));
    await eventually('the job to be done', async () => (await queue.counts('killed')).completed === 1);
    expect(runs.map(({ id, payload }) => ({ id, payload }))).toEqual([{ id: 'k', payload: { n: 1 } }]);
  });

  it.runIf(redisProgram !== undefined)(
    'refuses jobs while Redis is away, recovers by itself, and closes without it',
    async () => {
      await using folder = await temporaryFolder();
      await using database = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
      let redis = await startRedis(redisProgram ?? '');
      const port = Number(new URL(redis.url).port);
      const queue = openQueue({ redisUrl: redis.url, database, clock: systemClock, onProblem, graceMs: 0 });
      try {
        const done: string[] = [];
        queue.work('outage', async ({ id }) => void done.push(id));
        await queue.enqueue('outage', 'before', null);
        await eventually('the first job', () => done.includes('before'));
        await redis[Symbol.asyncDispose]();
        await expect(queue.enqueue('outage', 'during', null)).rejects.toMatchObject({
          code: 'OFFHOOK_QUEUE_UNAVAILABLE',
          retryable: true,
        });
        redis = await startRedis(redisProgram ?? '', port);
        await eventually('the queue to take jobs again', () =>
          queue.enqueue('outage', 'after', null).then(
            () => true,
            () => false,
          ),
        );
        await eventually('the next job', () => done.includes('after'));
        // Redis kept nothing of its first life: a known id is new to it.
        expect(done).toEqual(['before', 'after']);
      } finally {
        await redis[Symbol.asyncDispose]();
        // Redis is gone for good now: closing does not wait for it.
        await queue.close();
      }
    },
  );
});
