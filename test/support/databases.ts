import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Secret } from '../../src/config/secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { startPostgres } from './postgres-server.ts';
import { requireTool } from './requires.ts';

/** An empty folder that is removed when disposed. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'offhook-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export interface TestDatabases extends AsyncDisposable {
  /** A new, empty database with all tables; its owner closes it. */
  open(): Promise<Database>;
}

const problems: Error[] = [];
export const onProblem = (error: Error): void => void problems.push(error);

/**
 * Makes sure that this machine has a prepared cluster, which takes seconds the first time: for a `beforeAll`, so that no
 * test has to wait for it.
 */
export async function prepareCluster(): Promise<void> {
  await using databases = await embeddedDatabases();
  const database = await databases.open();
  await database.close();
}

/** Fresh embedded stores, copied from the prepared cluster that the first test run of a machine makes. */
export async function embeddedDatabases(): Promise<TestDatabases> {
  const folder = await temporaryFolder();
  let count = 0;
  return {
    open: () => openDatabase({ url: undefined, dataDir: join(folder.path, String(count++)), clock: systemClock, onProblem }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
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
