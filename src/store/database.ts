import { resolve } from 'node:path';
import { type NodePgDatabase, drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { StoreUnavailableError } from './errors.ts';
import { openEmbedded } from './embedded/open.ts';
import { migrateDatabase } from './migrate.ts';

export interface DatabaseOptions {
  /** A PostgreSQL server (`DATABASE_URL`); undefined for the embedded store. */
  readonly url: string | undefined;
  /** `OFFHOOK_DATA_DIR`, where the embedded store lives. */
  readonly dataDir: string;
  readonly clock: Clock;
  /** Hears of connections lost between queries; nothing needs to be done about them. */
  readonly onProblem: (error: Error) => void;
  /** What to do when another process owns the embedded store: use it through its socket, or stop. `join` when absent. */
  readonly whenBusy?: 'join' | 'stop';
  /** How long to wait for an owner that is still starting, in ms; 30,000 when absent. */
  readonly waitMs?: number;
}

/** PostgreSQL, wherever it runs: in a thread of this process, behind another process's socket, or on a server. */
export interface Database extends AsyncDisposable {
  readonly place: 'embedded' | 'peer' | 'server';
  readonly pool: Pool;
  readonly orm: NodePgDatabase;
  /** The server's address, undefined for the embedded store, whose pool is also the queue's. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/**
 * Opens the database and brings its tables up to date.
 * @throws StoreBusyError when another process owns the embedded store and `whenBusy` is `stop`, or it cannot be reached in time
 * @throws StoreUnavailableError when the server or the data directory cannot be opened
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url === undefined) {
    return databaseOf({ ...(await openEmbedded({ ...options, dataDir: resolve(options.dataDir) })), url: undefined });
  }
  const pool = new Pool({ connectionString: options.url, max: 10, connectionTimeoutMillis: 10_000, keepAlive: true });
  pool.on('error', options.onProblem);
  try {
    await migrateDatabase(pool);
  } catch (error) {
    await pool.end();
    throw new StoreUnavailableError('the database cannot be used', { cause: error });
  }
  return databaseOf({ place: 'server', pool, url: options.url, close: () => pool.end() });
}

/** @param parts.close releases what lies beneath the pool too; called once */
export function databaseOf(parts: {
  readonly place: Database['place'];
  readonly pool: Pool;
  readonly url: string | undefined;
  readonly close: () => Promise<void>;
}): Database {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= parts.close());
  return { ...parts, orm: drizzle(parts.pool), close, [Symbol.asyncDispose]: close };
}
