import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { systemClock } from '../../src/kernel/clock.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { embeddedDatabases, serverDatabases, type TestDatabases } from '../../test/support/databases.ts';
import { liveCall } from './live-call.ts';
import { type QueueResult, queueFiles } from './queue-files.ts';
import { searchCalls } from './search-calls.ts';
import { workerCpu } from './worker-cpu.ts';

// `npm run bench -- jobs --json [--files 10000] [--jobs 1000] [--calls 1000000] [--only queue]`: the jobs' goals, measured; see bench/jobs/README.md.
const json = process.argv.includes('--json');
const numberAfter = (flag: string, otherwise: number): number => {
  const at = process.argv.indexOf(flag);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
};
const files = numberAfter('--files', 10_000);
/** On the server; the embedded store gets a tenth. */
const calls = numberAfter('--calls', 1_000_000);
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const jobs = numberAfter('--jobs', 1_000);
const PARTS = ['live', 'queue', 'worker', 'search'] as const;
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
if (only !== undefined && !PARTS.some((part) => part === only)) throw new RangeError(`--only is one of ${PARTS.join(', ')}`);
const isWanted = (part: (typeof PARTS)[number]): boolean => only === undefined || only === part;

const folder = await mkdtemp(join(tmpdir(), 'offhook-bench-'));
try {
  if (isWanted('live')) note(`a live call beside ${jobs} jobs`);
  const live = isWanted('live') ? await liveCall(jobs) : null;
  // After the live call, whose processes would inherit it. All threads of this one on one core, where the system has a way to say so.
  const pinned = spawnSync('taskset', ['-a', '-c', '-p', '0', String(process.pid)], { stdio: 'ignore' }).status === 0;
  const servers = only === 'live' ? undefined : await serverDatabases();
  const queue = isWanted('queue') ? await measureQueue(servers) : null;
  const worker = isWanted('worker') ? await measureWorker(servers) : null;
  const search = isWanted('search') ? await measureSearch(servers) : null;
  const result = {
    machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version, onOneCore: pinned },
    live: live === null ? null : { goal: 'no hole, p99 < 20 ms', ...live },
    queue,
    worker,
    search,
  };
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function measureQueue(servers: TestDatabases | undefined) {
  note(`queueing ${files} files on the embedded store`);
  const onProblem = ({ message }: Error): void => note(message);
  const embedded = await queueFiles(
    await openDatabase({ url: undefined, dataDir: folder, clock: systemClock, onProblem }),
    files,
  );
  if (servers !== undefined) note(`queueing ${files} files on PostgreSQL`);
  const postgres = servers === undefined ? null : await queueFiles(await servers.open(), files);
  const judged = (result: QueueResult) => ({ ...result, met: result.seconds < 60 });
  return { goalS: 60, embedded: judged(embedded), postgres: postgres === null ? null : judged(postgres) };
}

async function measureWorker(servers: TestDatabases | undefined) {
  note('CPU of a worker');
  await using embedded = servers === undefined ? await embeddedDatabases() : undefined;
  await using store = storeOn(await (servers ?? embedded!).open());
  return { goalMsPerMinute: 50, store: servers === undefined ? 'embedded' : 'postgres', profiles: await workerCpu(store) };
}

async function measureSearch(servers: TestDatabases | undefined) {
  note(`searching ${calls / 10} calls on the embedded store`);
  await using searched = await embeddedDatabases();
  const embedded = await searchCalls(await searched.open(), calls / 10);
  if (servers !== undefined) note(`searching ${calls} calls on PostgreSQL`);
  return { goalP95Ms: 50, embedded, postgres: servers === undefined ? null : await searchCalls(await servers.open(), calls) };
}
