import { openQueue } from '../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { openDatabase } from '../../src/records/database.ts';

/** Joins the store of the folder in its first argument, takes a job of the queue named by its second one and never ends it. */
const [dataDir = '', name = ''] = process.argv.slice(2);
const database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem: () => {} });
const queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem: () => {}, stalledMs: 300 });
queue.work(name, async (run) => {
  process.stdout.write(`${database.place} ${run.id}\n`);
  await new Promise(() => {});
});
