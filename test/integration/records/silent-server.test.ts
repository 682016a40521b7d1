import { type Socket, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase, storeOn } from '../../../src/records/database.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { requireTool } from '../../support/requires.ts';
import { onLoopback } from '../../support/loopback.ts';

const program = requireTool('postgres');

/** A way to a server. Connections that are made before `lose` stay open, and nothing comes through them any more. */
async function startWay(port: number): Promise<AsyncDisposable & { readonly port: number; lose(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    client.pipe(target).pipe(client);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
  });
  return {
    ...(await onLoopback(server)),
    lose() {
      for (const socket of sockets) {
        socket.unpipe();
        // Read on, so that the end of either side is still noticed.
        socket.resume();
      }
    },
  };
}

it.runIf(program !== undefined)('drops connections to a server that vanished, and opens new ones', async () => {
  await using server = await startPostgres(program ?? '');
  await using way = await startWay(Number(new URL(server.url).port));
  await using folder = await temporaryFolder();
  const url = `postgres://postgres@127.0.0.1:${way.port}/postgres`;
  const masterKeys = [new Secret(Buffer.alloc(32, 'test').toString('base64'))];
  await using database = await openDatabase({
    url,
    dataDir: folder.path,
    masterKeys,
    clock: systemClock,
    onProblem,
    silenceMs: 1_000,
  });
  const { calls } = storeOn(database);
  await using queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem, graceMs: 0 });
  await calls.upsert(callRecordOf({ id: 'before' }));
  await queue.enqueue('silent', 'before', null);
  way.lose();
  await expect(calls.upsert(callRecordOf({ id: 'after' }))).rejects.toMatchObject({ retryable: true });
  await eventually('the store to answer', () => calls.upsert(callRecordOf({ id: 'after' })).then(() => true));
  await eventually('the queue to answer', () => queue.enqueue('silent', 'after', null).then(() => true));
  expect(await calls.get('default', 'after')).toBeDefined();
  expect((await queue.counts('silent')).waiting).toBe(2);
});
