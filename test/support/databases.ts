import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { loadConfig } from '../../src/config/load.ts';
import { Secret } from '../../src/config/secrets.ts';
import { openRecords, type Records } from '../../src/hosts/records.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { type Database, openDatabase, storeOn } from '../../src/records/database.ts';
import type { Store } from '../../src/records/port.ts';
import { startPostgres } from './postgres-server.ts';
import { requireTool } from './requires.ts';
import { shared } from './shared.ts';

/** An empty folder that is removed when disposed. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'offhook-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** What a gateway keeps, in an empty folder. */
export async function keeping(): Promise<
  AsyncDisposable & { readonly records: Records; readonly folder: { readonly path: string } }
> {
  const folder = await temporaryFolder();
  const config = loadConfig({ env: { OFFHOOK_DATA_DIR: folder.path }, files: [] });
  const records = await openRecords({ config, clock: systemClock, logger: silentLogger });
  return {
    records,
    folder,
    async [Symbol.asyncDispose]() {
      await records.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export interface TestDatabases extends AsyncDisposable {
  /** A new, empty database with all tables; its owner closes it. */
  open(): Promise<Database>;
}

const problems: Error[] = [];
export const onProblem = (error: Error): void => void problems.push(error);

const openIn = (dataDir: string): Promise<Database> => openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem });

/**
 * Makes sure that this machine has a prepared cluster, which takes seconds the first time: for a `beforeAll`, so that no
 * test has to wait for it.
 */
export async function prepareCluster(): Promise<void> {
  await using folder = await temporaryFolder();
  const database = await openIn(folder.path);
  await database.close();
}

/** Embedded stores as good as new: the one that this process keeps, and where that is in use, one copied from the prepared cluster. */
export async function embeddedDatabases(): Promise<TestDatabases> {
  const folder = await temporaryFolder();
  let count = 0;
  return {
    open: async () => (await lend()) ?? openIn(join(folder.path, String(count++))),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** What all files of a process use in turn: to make one costs as much as a dozen tests. */
let kept: Promise<Database> | undefined;
let isLent = false;

async function lend(): Promise<Database | undefined> {
  if (isLent) return undefined;
  isLent = true;
  const isNew = kept === undefined;
  const database = await (kept ??= keep());
  if (!isNew) await empty(database);
  const close = async (): Promise<void> => void (isLent = false);
  return { ...database, close, [Symbol.asyncDispose]: close };
}

async function keep(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-test-'));
  // How the test runner ends its processes; it waits for less long than a removal may take.
  process.once('SIGTERM', () => process.exit(143));
  process.once('exit', () => {
    const remove = `fs.rmSync(${JSON.stringify(folder)}, { recursive: true, force: true })`;
    spawn(process.execPath, ['-e', remove], { detached: true, stdio: 'ignore' }).unref();
  });
  return openIn(folder);
}

async function empty({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('offhook', 'bullmq') AND tablename NOT LIKE '%migration%'`,
  );
  await pool.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')}`);
}

/** What servers' databases are sealed under in tests. */
const testMasterKey = new Secret(Buffer.alloc(32, 'test').toString('base64'));

/** Fresh databases of a Postgres server; undefined where none is installed. */
export async function serverDatabases(): Promise<TestDatabases | undefined> {
  const program = requireTool('postgres');
  if (program === undefined) return undefined;
  const server = await startPostgres(program);
  let count = 0;
  return {
    async open() {
      const name = `test_${count++}`;
      const client = new Client({ connectionString: server.url });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      const url = server.url.replace(/\/postgres$/, `/${name}`);
      return openDatabase({ url, dataDir: '', masterKeys: [testMasterKey], clock: systemClock, onProblem });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Where a store may be, for `describe.each`: the tests on a server are skipped where none is installed. */
export const STORE_PLACES = [
  { place: 'the embedded store', isThere: true, start: embeddedDatabases },
  { place: 'a Postgres server', isThere: requireTool('postgres') !== undefined, start: serverDatabases },
] as const;

/** A store in a new database, which the tests of a block share. */
export function sharedStore(
  start: () => Promise<TestDatabases | undefined>,
): Store & { readonly database: Database } & AsyncDisposable {
  return shared(async () => {
    const databases = await start();
    const database = await databases?.open();
    if (database === undefined) return undefined;
    const store = storeOn(database);
    const close = async (): Promise<void> => {
      await store.close();
      await databases?.[Symbol.asyncDispose]();
    };
    return { ...store, database, [Symbol.asyncDispose]: close };
  });
}
