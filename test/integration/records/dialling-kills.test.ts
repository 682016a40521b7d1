import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { verifyChain } from '../../../src/outbound/gate/chain.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase, storeOn, type Database } from '../../../src/records/database.ts';
import { yesToEach } from '../../support/attempt-records.ts';
import { onProblem, prepareCluster, serverDatabases, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';
import { requireTool } from '../../support/requires.ts';

const childProgram = fileURLToPath(new URL('../../support/dialling-child.ts', import.meta.url));
const about = { numbers: ['+12127365000', '+12127365001'], sinceMs: 0, lease: { owner: 'test', untilMs: 1 } };

/** What is stored of decisions, whole or not. */
async function kept(database: Database) {
  const { attempts } = storeOn(database);
  const head = await attempts.decisionHead('default');
  const log = await verifyChain(attempts.decisions('default'), 'default', head);
  const { rows } = await database.pool.query<{ id: string; has_key: boolean; decision: string }>(
    `SELECT a.id, a.decision_sequence AS decision,
       EXISTS (SELECT FROM offhook.call_keys k WHERE k.tenant_id = a.tenant_id AND k.call_id = a.id) AS has_key
     FROM offhook.attempts a ORDER BY a.decision_sequence`,
  );
  const keys = await database.pool.query('SELECT 1 FROM offhook.call_keys');
  return { log, head, attempts: rows, keys: keys.rowCount };
}

it('keeps the log and the attempts whole when the process with the embedded store is killed while it decides', async () => {
  await prepareCluster();
  await using folder = await temporaryFolder();
  const acknowledged: string[] = [];
  for (const prefix of ['first-', 'second-']) {
    const child = run(process.execPath, [...(await nodeArguments(childProgram)), folder.path, prefix]);
    const lines = (): string[] => child.output().split('\n').slice(0, -1);
    try {
      await eventually('decisions, and another one that is being made', () => {
        if (child.child.exitCode !== null) throw new Error(child.output());
        return lines().length > 6 && lines().at(-1) === 'asking';
      });
    } finally {
      await child.stop('SIGKILL');
    }
    acknowledged.push(...lines().filter((line) => line.startsWith(prefix)));
  }
  await using database = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
  const { log, attempts, keys } = await kept(database);
  expect(log.faults).toEqual([]);
  expect(log.entries % 20).toBe(0);
  expect(attempts.map(({ decision }) => Number(decision))).toEqual(Array.from({ length: log.entries }, (_, index) => index + 1));
  expect([keys, attempts.every((each) => each.has_key)]).toEqual([log.entries, true]);
  const ids = new Set(attempts.map(({ id }) => id));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
});

it.runIf(requireTool('postgres') !== undefined)(
  'writes nothing of a decision whose connection is lost between the log and the attempts, and decides on',
  async () => {
    await using databases = await serverDatabases();
    if (databases === undefined) return;
    await using database = await databases.open();
    const { attempts } = storeOn(database);
    const decide = (prefix: string) =>
      attempts.decide(
        'default',
        about,
        yesToEach('default', (number) => prefix + number),
      );
    await decide('a');
    for (const number of about.numbers) await attempts.advance('default', `a${number}`, ['queued'], 'ended', { endedAtMs: 5 });
    const before = await kept(database);

    const blocker = new Client(database.connection);
    await blocker.connect();
    try {
      await blocker.query('BEGIN');
      // Attempts can be read and not written: the decision stops with its entries written.
      await blocker.query('LOCK TABLE offhook.attempts IN SHARE ROW EXCLUSIVE MODE');
      const lost = decide('b').catch((error: unknown) => error);
      const pid = await eventually('the decision to wait for the attempts', async () => {
        const { rows } = await blocker.query<{ pid: number }>(
          `SELECT l.pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'attempts' AND NOT l.granted`,
        );
        return rows[0]?.pid;
      });
      const others = [decide('c'), decide('d')];
      await blocker.query('SELECT pg_terminate_backend($1)', [pid]);
      expect(await lost).toMatchObject({ code: 'OFFHOOK_STORE_UNAVAILABLE', retryable: true });
      expect((await kept(database)).log).toEqual(before.log);
      await blocker.query('ROLLBACK');
      // Of the two that waited for the log, one gets yes for each number.
      expect((await Promise.all(others)).map(({ length }) => length).sort((one, other) => one - other)).toEqual([0, 2]);
    } finally {
      await blocker.end();
    }
    const after = await kept(database);
    expect(after.log).toMatchObject({ entries: 6, faultCount: 0 });
    expect(after.attempts).toHaveLength(6);
    expect(after.attempts.some(({ id }) => id.startsWith('b'))).toBe(false);
    expect(after.keys).toBe(6);
  },
);
