import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Database } from '../../../src/records/database.ts';
import { onProblem } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestServer, startRedis, startSentinel } from '../../support/redis-server.ts';
import { requireTool } from '../../support/requires.ts';

const program = requireTool('redis-server');

describe.runIf(program !== undefined)('the job queue on Redis elsewhere', () => {
  let [server, cluster, sentinel]: (TestServer | undefined)[] = [];

  beforeAll(async () => {
    server = await startRedis(program!, undefined, { password: 'pass:word' });
    cluster = await startRedis(program!, undefined, { cluster: true });
    sentinel = await startSentinel(program!, { name: 'main', server: server.url, password: 'pass:word' });
    const node = new Redis(cluster.url, { maxRetriesPerRequest: 1 });
    await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually('the cluster to be whole', async () => (await node.cluster('INFO')).includes('cluster_state:ok'));
    node.disconnect();
  });

  afterAll(async () => {
    await sentinel?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  it.each([
    { place: 'one server with a password', url: () => server!.url },
    { place: 'a cluster', url: () => cluster!.url.replace('redis://', 'redis+cluster://') },
    { place: 'a sentinel', url: () => `${sentinel!.url.replace('redis://', 'redis+sentinel://:pass%3Aword@')}/main` },
  ])('does jobs on $place, tries them again and keeps what failed', async ({ place, url }) => {
    const retry = { attempts: 2, backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 } };
    // With Redis the queue asks the database nothing.
    await using queue = openQueue({ redisUrl: url(), database: {} as Database, clock: systemClock, onProblem, retry });
    const name = place.replaceAll(' ', '-');
    const done: string[] = [];
    queue.work(name, async (run) => {
      if (run.id === 'bad') throw new Error('broken');
      done.push(run.id);
    });
    const good = (): Promise<boolean> =>
      queue.enqueue(name, 'good', { n: 1 }).then(
        () => true,
        () => false,
      );
    await eventually('the queue to take jobs', good);
    await queue.enqueue(name, 'bad', null);
    await eventually('both to end', async () => (await queue.counts(name)).failed === 1 && done.length === 1);
    expect(await queue.failed(name)).toMatchObject([{ id: 'bad', attempts: 2, reason: 'broken' }]);
  });
});
