import { Socket } from 'node:net';
import { Client, type PoolConfig, Pool } from 'pg';
import type { Duplex } from 'node:stream';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runMigrations } from 'bullmq';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';

/** How a Postgres client reaches the database: a server's address, a socket's folder, or an in-process stream. */
export type DatabaseConnection = {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly database?: string;
  readonly ssl?: false;
  readonly stream?: () => Duplex;
  readonly connectionTimeoutMillis?: number;
  readonly keepAlive: true;
  /** Class of a pool's clients, where it matters. */
  readonly Client?: PoolConfig['Client'];
};

/**
 * A pool whose lost connections cannot end the process: the pool only listens for errors on idle ones, and one that dies between two queries of a
 * transaction has no other listener.
 */
export function openPool(config: PoolConfig, onProblem: (error: Error) => void): Pool {
  const pool = new Pool(config);
  pool.on('error', onProblem);
  pool.on('connect', (client) => void client.on('error', onProblem));
  return pool;
}

type ClientClass = NonNullable<PoolConfig['Client']>;

/**
 * A client class for a server that can vanish silently, as when its machine or network fails: a query without any answer for this long fails with its
 * connection. Otherwise it would wait as long as the system keeps the connection, for hours, and a pool would be exhausted after as many queries as
 * it has connections. A pool closes idle ones long before.
 * @param silenceMs longer than any query takes
 */
export function impatientClient(silenceMs: number): ClientClass {
  return class extends Client {
    constructor(config?: ConstructorParameters<typeof Client>[0]) {
      super(config);
      this.once('connect', () => {
        const { stream } = this.connection;
        if (stream instanceof Socket)
          stream.setTimeout(silenceMs, () => stream.destroy(new Error(`the database said nothing for ${silenceMs} ms`)));
      });
    }
  };
}

/** The SQL files at the package's root: the same folder from `src/records/postgres` and from `dist/records/postgres`. */
const MIGRATIONS_DIR = fileURLToPath(new URL('../../../config/migrations', import.meta.url));

/** Where BullMQ keeps its tables. */
export const QUEUE_SCHEMA = 'bullmq';

/** Spells OFFH: the advisory lock for migrations. */
const LOCK_KEY = 0x4f464648;

/** Migrates the tables of store and queue. Any number of processes may run it at once. */
export async function migrateDatabase(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    try {
      await applyMigrations(drizzle(client), { migrationsFolder: MIGRATIONS_DIR, migrationsSchema: 'offhook_migrations' });
      await runMigrations(client, QUEUE_SCHEMA);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [LOCK_KEY]);
    }
  } finally {
    client.release();
  }
}

/** The text of every migration, in order: part of a prepared cluster's key. */
export async function migrationTexts(): Promise<string[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(names.map((name) => readFile(join(MIGRATIONS_DIR, name), 'utf8')));
}
