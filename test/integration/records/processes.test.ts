import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type Database, openDatabase, storeOn } from '../../../src/records/database.ts';
import { socketDirOf } from '../../../src/records/embedded/socket-server.ts';
import { FolderLock } from '../../../src/kernel/folder-lock.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type Running, run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';

const childProgram = fileURLToPath(new URL('../../support/store-child.ts', import.meta.url));

async function startChild(dataDir: string, ...args: readonly string[]): Promise<Running> {
  return run(process.execPath, [...(await nodeArguments(childProgram)), dataDir, ...args]);
}

const lines = (child: Running): string[] => child.output().split('\n').slice(0, -1);
const written = async (child: Running, count: number): Promise<void> => {
  await eventually(`${count} calls to be written`, () => {
    if (child.child.exitCode !== null) throw new Error(child.output());
    return lines(child).length > count;
  });
};

/** A store that several tests look at. Opened first: the first of a machine is prepared for seconds. */
let shared: Awaited<ReturnType<typeof temporaryFolder>>;
let owner: Database;
beforeAll(async () => {
  shared = await temporaryFolder();
  owner = await openDatabase({ url: undefined, dataDir: shared.path, clock: systemClock, onProblem });
});
afterAll(async () => {
  await owner.close();
  await shared[Symbol.asyncDispose]();
});

// Most of it is waiting, for processes to start.
describe.concurrent('the embedded store between processes', () => {
  it('serves peers through its socket, and keeps every row through kill -9 of its owner', async () => {
    await using folder = await temporaryFolder();
    const first = await startChild(folder.path, 'owner-');
    const peers: Running[] = [];
    try {
      await written(first, 1);
      const peer = await startChild(folder.path, 'peer-');
      peers.push(peer);
      await written(peer, 5);
      await written(first, 10);
      expect([lines(first)[0], lines(peer)[0]]).toEqual(['embedded', 'peer']);
      const stop = { url: undefined, dataDir: folder.path, clock: systemClock, onProblem, whenBusy: 'stop' } as const;
      await expect(openDatabase(stop)).rejects.toMatchObject({
        code: 'OFFHOOK_STORE_BUSY',
        facts: { ownerPid: first.child.pid },
      });

      await first.stop('SIGKILL');
      await peer.stop('SIGKILL');
      await using database = await openDatabase(stop);
      expect(database.place).toBe('embedded');
      const store = storeOn(database);
      // The peer may have had time to say that its owner is gone: only ids were acknowledged.
      const acknowledged = [...lines(first), ...lines(peer)].filter((line) => /^(?:owner|peer)-/u.test(line));
      for (const id of acknowledged) {
        const found = await store.calls.get('default', id);
        expect(found?.turns, id).toHaveLength(2);
      }
    } finally {
      await first.stop('SIGKILL');
      for (const peer of peers) await peer.stop('SIGKILL');
    }
  });

  it('is taken over by one peer when its owner is killed, and the other peers join it', async () => {
    await using folder = await temporaryFolder();
    const options = { url: undefined, dataDir: folder.path, clock: systemClock, onProblem };
    const first = await startChild(folder.path, 'owner-');
    let third: Running | undefined;
    try {
      await written(first, 1);
      await using left = await openDatabase(options);
      await using right = await openDatabase(options);
      expect([left.place, right.place]).toEqual(['peer', 'peer']);
      await using queue = openQueue({ redisUrl: undefined, database: right, clock: systemClock, onProblem });
      const done: string[] = [];
      queue.work('survives', async ({ id }) => void done.push(id));
      await queue.enqueue('survives', 'before', {});
      await eventually('the first job', () => done.length === 1);
      await first.stop('SIGKILL');

      for (const [id, database] of Object.entries({ left, right })) {
        const kept = (): Promise<boolean> =>
          storeOn(database)
            .calls.upsert(callRecordOf({ id }))
            .then(
              () => true,
              () => false,
            );
        await eventually(`a call to be kept by ${id}`, kept);
      }
      for (const id of [...lines(first).slice(1), 'left', 'right'])
        for (const database of [left, right]) expect(await storeOn(database).calls.get('default', id), id).toBeDefined();
      await queue.enqueue('survives', 'after', {});
      await eventually('the second job', () => done.includes('after'));
      third = await startChild(folder.path, 'third-');
      await written(third, 1);
      expect(lines(third)[0]).toBe('peer');
    } finally {
      await first.stop('SIGKILL');
      await third?.stop('SIGKILL');
    }
  });

  it('has one owner among several processes that start at once', async () => {
    await using folder = await temporaryFolder();
    const options = { url: undefined, dataDir: folder.path, clock: systemClock, onProblem };
    const databases = await Promise.all(Array.from({ length: 4 }, () => openDatabase(options)));
    try {
      expect(databases.map(({ place }) => place).sort()).toEqual(['embedded', 'peer', 'peer', 'peer']);
      await Promise.all(databases.map((database, index) => storeOn(database).calls.upsert(callRecordOf({ id: `c${index}` }))));
      for (const database of databases) {
        expect((await storeOn(database).calls.search('default', { limit: 9 })).calls).toHaveLength(4);
      }
    } finally {
      for (const database of databases.sort((a) => (a.place === 'peer' ? -1 : 1))) await database.close();
    }
  });

  it('waits for a short command to end in place of joining it', async () => {
    await using folder = await temporaryFolder();
    const options = { url: undefined, dataDir: folder.path, clock: systemClock, onProblem };
    const command = await openDatabase({ ...options, lasting: false });
    await expect(openDatabase({ ...options, waitMs: 0 })).rejects.toMatchObject({ code: 'OFFHOOK_STORE_BUSY' });
    const opening = openDatabase(options);
    await storeOn(command).calls.upsert(callRecordOf());
    await command.close();
    await using gateway = await opening;
    await using another = await openDatabase({ ...options, lasting: false });
    expect([gateway.place, another.place]).toEqual(['embedded', 'peer']);
    expect((await storeOn(another).calls.search('default', { limit: 9 })).calls).toHaveLength(1);
  });

  it('names the process that holds the store when it is not released in time', async () => {
    await using folder = await temporaryFolder();
    const attempt = await FolderLock.acquire(join(folder.path, 'store.lock'), systemClock, {
      socketDir: join(folder.path, 'nowhere'),
    });
    if (attempt.state !== 'held') throw new Error('a new folder is free');
    await using _lock = attempt.lock;
    const child = await startChild(folder.path, 'late-', '300');
    try {
      await eventually('its end', () => child.child.exitCode !== null);
      expect(child.child.exitCode, child.output()).toBe(1);
      expect(child.output()).toContain('OFFHOOK_STORE_BUSY');
    } finally {
      await child.stop('SIGKILL');
    }
  });

  it('rolls back the transaction of a client that disconnected', async () => {
    const store = storeOn(owner);
    await store.calls.upsert(callRecordOf());
    const client = new Client({ host: socketDirOf(shared.path), port: 5432, user: 'postgres' });
    client.on('error', () => {});
    await client.connect();
    await client.query('BEGIN');
    await client.query(`UPDATE offhook.calls SET language = 'changed'`);
    const waiting = store.calls.get('default', 'call_1');
    await client.end();
    expect((await waiting)?.language).toBe('en');
  });

  it('delivers notifications to listeners of their channel on both sides of the socket', async () => {
    await using peer = await openDatabase({ url: undefined, dataDir: shared.path, clock: systemClock, onProblem });
    const heard: string[] = [];
    const clients = await Promise.all([owner.pool.connect(), peer.pool.connect(), peer.pool.connect()]);
    try {
      for (const [index, client] of clients.entries()) {
        client.on('notification', ({ channel, payload }) => heard.push(`${index} ${channel} ${payload}`));
        await client.query(index === 2 ? 'LISTEN "Other"' : '-- news\nLISTEN news');
      }
      await peer.pool.query(`SELECT pg_notify('news', 'one')`);
      await owner.pool.query(`SELECT pg_notify('Other', 'two')`);
      await eventually('all to hear', () => heard.length === 3);
      expect(heard.sort()).toEqual(['0 news one', '1 news one', '2 Other two']);
      await clients[0]?.query('UNLISTEN news');
      await owner.pool.query(`SELECT pg_notify('news', 'three')`);
      await eventually('the other to hear', () => heard.length === 4);
      expect(heard.at(-1)).toBe('1 news three');
    } finally {
      for (const client of clients) client.release();
    }
  });
});

describe('the lock of the embedded store', () => {
  const deadOwner = { pid: 2 ** 22 + 1, startTicks: '1', bootId: 'x', pidNamespace: 'x' };

  it('is taken by one of several processes that find a dead owner at once', async () => {
    await using folder = await temporaryFolder();
    const first = await FolderLock.acquire(folder.path, systemClock);
    if (first.state !== 'held') throw new Error('a new folder is free');
    await first.lock.release();
    for (let round = 0; round < 10; round += 1) {
      const attempts = await Promise.all(Array.from({ length: 6 }, () => FolderLock.acquire(folder.path, systemClock)));
      const held = attempts.flatMap((attempt) => (attempt.state === 'held' ? [attempt.lock] : []));
      expect(held).toHaveLength(1);
      await held[0]?.release();
    }
    expect((await readdir(folder.path)).filter((name) => /^\d+$/.test(name))).toEqual(['11']);
  });

  it('is taken from an owner in another container only after it has been silent', async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.path, { recursive: true });
    await writeFile(join(folder.path, '7'), JSON.stringify({ owner: deadOwner, released: false, socketDir: '/there' }));
    const busy = await FolderLock.acquire(folder.path, systemClock);
    expect(busy).toMatchObject({ state: 'busy', facts: { socketDir: '/there' } });
    const later = { ...systemClock, wallMs: () => Date.now() + 60_000 };
    const attempt = await FolderLock.acquire(folder.path, later);
    expect(attempt.state).toBe('held');
    if (attempt.state === 'held') await attempt.lock.release();
    expect(await readdir(folder.path)).toEqual(['8']);
  });
});
