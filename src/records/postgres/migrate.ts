import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runMigrations } from 'bullmq';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import type { Pool } from 'pg';

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
