import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { systemClock } from '../../src/kernel/clock.ts';
import { openDatabase } from '../../src/store/database.ts';
import { storeOn } from '../../src/store/postgres-store.ts';
import { embeddedDatabases, serverDatabases, type TestDatabases } from '../../test/support/databases.ts';
import { queueFiles } from './queue-files.ts';
import { searchCalls } from './search-calls.ts';
import { workerCpu } from './worker-cpu.ts';

// `npm run bench:jobs -- --json [--files 10000] [--calls 1000000]`: the jobs' goals, measured; see bench/jobs/README.md.
const json = process.argv.includes('--json');
const numberAfter = (flag: string, otherwise: number): number => {
  const at = process.argv.indexOf(flag);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
};
const files = numberAfter('--files', 10_000);
/** On the server; the embedded store gets a tenth. */
const calls = numberAfter('--calls', 1_000_000);
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const pinner = 'taskset';
/** All threads of this process on one core, where the system has a way to say so. */
const pinned = spawnSync(pinner, ['-a', '-c', '-p', '0', String(process.pid)], { stdio: 'ignore' }).status === 0;

const folder = await mkdtemp(join(tmpdir(), 'offhook-bench-'));
try {
  note(`queueing ${files} files on the embedded store`);
  const embedded = await openDatabase({
    url: undefined,
    dataDir: folder,
    clock: systemClock,
    onProblem: ({ message }) => note(message),
  });
  const queueEmbedded = await queueFiles(embedded, undefined, files);
  const servers = await serverDatabases();
  note(`queueing ${files} files on PostgreSQL`);
  const queueServer = servers === undefined ? undefined : await queueFiles(await servers.open(), undefined, files);
  note('CPU of a worker');
  await using databases: TestDatabases = servers ?? (await embeddedDatabases());
  await using store = storeOn(await databases.open());
  const worker = await workerCpu(store);
  note(`searching ${calls / 10} calls on the embedded store`);
  await using searched = await embeddedDatabases();
  const searchEmbedded = await searchCalls(await searched.open(), calls / 10);
  note(`searching ${calls} calls on PostgreSQL`);
  const searchServer = servers === undefined ? null : await searchCalls(await servers.open(), calls);
  const result = {
    machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version, onOneCore: pinned },
    queue: {
      goalS: 60,
      embedded: { ...queueEmbedded, met: queueEmbedded.seconds < 60 },
      postgres: queueServer === undefined ? null : { ...queueServer, met: queueServer.seconds < 60 },
    },
    worker: { goalMsPerMinute: 50, store: servers === undefined ? 'embedded' : 'postgres', profiles: worker },
    search: { goalP95Ms: 50, embedded: searchEmbedded, postgres: searchServer },
  };
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
