import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Pool } from 'pg';
import { z } from 'zod';
import { sleep } from '../../kernel/waiting.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import { FolderLock, type LockAttempt } from '../../kernel/folder-lock.ts';
import { type DatabaseConnection, openPool, migrateDatabase, migrationTexts } from '../postgres/connection.ts';
import { StoreBusyError, StoreUnavailableError } from '../errors.ts';
import { EngineHost } from './engine.ts';
import { dialGate, serveSocket, socketDirOf } from './socket-server.ts';
import { type EmbeddedDatabase, Peer, type StoreOwner } from './peer.ts';
import { SessionGate } from './session-gate.ts';
import { placeCluster, templateKey, templateRoot } from './template.ts';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly onProblem: (error: Error) => void;
  readonly whenBusy?: 'join' | 'stop';
  readonly waitMs?: number;
  readonly lasting?: boolean;
}

/** Sessions that queries may use at once; they all take turns at one backend. */
const MAX_SESSIONS = 16;
const GATE_LIMITS = { maxWaiting: 20_000, idleInTransactionMs: 30_000 };
const RETRY_MS = 100;

/** Opens the embedded store as its one owner, or reaches the owner through its socket, where that one means to stay. */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { dataDir, clock, onProblem, whenBusy = 'join', waitMs = 30_000, lasting = true } = options;
  const deadlineMs = clock.nowMs() + waitMs;
  const peerOptions = {
    clock,
    onProblem,
    maxSessions: MAX_SESSIONS,
    tryOwning: lasting ? () => tryOwning(options) : undefined,
  };
  for (;;) {
    const found = await tryOwning(options);
    if ('pool' in found) return found;
    // What joined one that soon ends would be left without a store in the middle of its work.
    if (whenBusy === 'join' && found.lasting) {
      const peer = await Peer.join(found.socketDir, peerOptions);
      if (peer !== undefined) return peer;
    }
    if (whenBusy === 'stop' || clock.nowMs() >= deadlineMs) {
      throw new StoreBusyError('another process has the store open', { facts: { dataDir, ownerPid: found.pid } });
    }
    await stayAwake(sleep(clock, RETRY_MS));
  }
}

/** @returns what the lock says of the owner when that is another process */
async function tryOwning(options: EmbeddedOptions): Promise<EmbeddedDatabase | StoreOwner> {
  const { dataDir, clock, lasting = true } = options;
  const socketDir = socketDirOf(dataDir);
  const attempt = await tryLock(dataDir, socketDir, clock, lasting);
  if (attempt.state === 'busy') return { pid: attempt.facts.owner.pid, ...ownersNote.parse(attempt.facts) };
  return own(options, socketDir, attempt.lock).catch(async (error: unknown) => {
    await attempt.lock.release();
    throw error;
  });
}

/** What the owner of the store notes in its lock. */
const ownersNote = z.object({
  /** Where other processes find the store's socket. */
  socketDir: z.string().default(''),
  /** Whether the owner means to stay, so that others may join it. Locks of older versions do not say. */
  lasting: z.boolean().default(true),
});

/** PGlite has no lock of its own, and two processes on one directory silently lose rows. */
async function tryLock(dataDir: string, socketDir: string, clock: Clock, lasting: boolean): Promise<LockAttempt> {
  try {
    return await FolderLock.acquire(join(dataDir, 'store.lock'), clock, { socketDir, lasting });
  } catch (error) {
    throw new StoreUnavailableError('the data directory cannot be written', { cause: error, facts: { dataDir } });
  }
}

async function own(options: EmbeddedOptions, socketDir: string, lock: FolderLock): Promise<EmbeddedDatabase> {
  const { dataDir, clock, onProblem } = options;
  const clusterDir = join(dataDir, 'store');
  try {
    await placeCluster({
      dataDir: clusterDir,
      root: await templateRoot(),
      key: await clusterKey(),
      wallMs: clock.wallMs(),
      async build(target) {
        await using running = await runEngine(target, clock, onProblem);
        await migrateDatabase(running.pool);
        await dropSpareDatabases(running.pool);
      },
    });
  } catch (error) {
    throw new StoreUnavailableError('the embedded store could not be created', { cause: error, facts: { dataDir } });
  }
  const running = await runEngine(clusterDir, clock, onProblem);
  try {
    await migrateDatabase(running.pool);
    const socket = await serveSocket(socketDir, running.gate);
    return {
      place: 'embedded',
      pool: running.pool,
      connection: running.connection,
      async close() {
        await socket[Symbol.asyncDispose]();
        await running[Symbol.asyncDispose]();
        await lock.release();
      },
    };
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Takes away what every cluster has for making further databases, which this one never does: more than half of its files,
 * and every new store is a copy of them.
 */
async function dropSpareDatabases(pool: Pool): Promise<void> {
  for (const name of ['template0', 'template1']) {
    await pool.query(`ALTER DATABASE ${name} IS_TEMPLATE false`);
    await pool.query(`DROP DATABASE ${name}`);
  }
}

interface RunningEngine extends AsyncDisposable {
  readonly pool: Pool;
  readonly connection: DatabaseConnection;
  readonly gate: SessionGate;
}

async function runEngine(clusterDir: string, clock: Clock, onProblem: (error: Error) => void): Promise<RunningEngine> {
  const engine = await EngineHost.start(clusterDir, clock, onProblem);
  const gate = new SessionGate(engine, clock, GATE_LIMITS);
  const connection: DatabaseConnection = { stream: () => dialGate(gate), user: 'postgres', ssl: false, keepAlive: true };
  const pool = openPool({ ...connection, max: MAX_SESSIONS }, onProblem);
  return {
    pool,
    connection,
    gate,
    async [Symbol.asyncDispose]() {
      await pool.end();
      gate.shut('the store is closing');
      await engine.close();
    },
  };
}

/** What shapes a cluster: a prepared one is copied only where all of it is the same. */
async function clusterKey(): Promise<string> {
  const require = createRequire(import.meta.url);
  // PGlite exports no package.json: it stands beside the folder of its entry point.
  const manifests = [
    require.resolve('bullmq/package.json'),
    join(dirname(require.resolve('@electric-sql/pglite')), '../package.json'),
  ];
  const versions = await Promise.all(
    manifests.map(async (path) => z.object({ version: z.string() }).parse(JSON.parse(await readFile(path, 'utf8'))).version),
  );
  return templateKey([...versions, ...(await migrationTexts()), 'without spare databases']);
}
