import { expect, it } from 'vitest';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openDatabase } from '../../../src/records/database.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';

const PAUSE_MS = 1_000;

it('polls an unavailable store for jobs once a second', async () => {
  await using folder = await temporaryFolder();
  const database = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem: () => {} });
  const clock = new ManualClock();
  const refusals: Error[] = [];
  const queue = openQueue({ redisUrl: undefined, database, clock, onProblem: (error) => void refusals.push(error), graceMs: 0 });
  // One that has had a job asks for the next; one that has had none waits to be told of it.
  let finish = (): void => {};
  const work = queue.work('away', () => new Promise((resolve) => void (finish = resolve)));
  await queue.enqueue('away', 'a', null);
  await eventually('the job to be in hand', async () => (await queue.counts('away')).active === 1);
  await database.close();
  finish();
  await eventually('the worker to wait', () => clock.pendingTimers > 0);
  refusals.length = 0;
  for (const asked of [1, 2, 3]) {
    clock.advance(PAUSE_MS);
    await eventually('the next refusal', () => refusals.length >= asked && clock.pendingTimers > 0);
    expect(refusals).toHaveLength(asked);
  }
  const stopped = work.stop();
  await eventually('the end', async () => {
    clock.advance(PAUSE_MS);
    return Promise.race([stopped.then(() => true), new Promise<false>((resolve) => void setImmediate(resolve, false))]);
  });
});
