import { resolve } from 'node:path';
import { type NodePgDatabase, drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { StoreUnavailableError } from './errors.ts';
import { openEmbedded } from './embedded/open.ts';
import type { DatabaseConnection } from './connection.ts';
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
  /** How to reach it, for who needs connections of their own, as the job queue does. */
  readonly connection: DatabaseConnection;
  close(): Promise<void>;
}

/**
 * Opens the database and brings its tables up to date.
 * @throws StoreBusyError when another process owns the embedded store and `whenBusy` is `stop`, or it cannot be reached in time
 * @throws StoreUnavailableError when the server or the data directory cannot be opened
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url === undefined) {
    return databaseOf(await openEmbedded({ ...options, dataDir: resolve(options.dataDir) }));
  }
  const connection: DatabaseConnection = { connectionString: options.url, connectionTimeoutMillis: 10_000, keepAlive: true };
  const pool = new Pool({ ...connection, max: 10 });
  pool.on('error', options.onProblem);
  try {
    await migrateDatabase(pool);
  } catch (error) {
    await pool.end();
    throw new StoreUnavailableError('the database cannot be used', { cause: error });
  }
  return databaseOf({ place: 'server', pool, connection, close: () => pool.end() });
}

/** @param parts.close releases what lies beneath the pool too; called once */
function databaseOf(parts: Pick<Database, 'place' | 'pool' | 'connection' | 'close'>): Database {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= parts.close());
  return { ...parts, orm: drizzle(parts.pool), close, [Symbol.asyncDispose]: close };
}
