import { type InferInsertModel, type SQL, getTableColumns, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Session } from './tenancy.ts';

/**
 * Inserts rows by one statement with one parameter, a JSON document: a parameter for each value costs many times as much on both sides, with a limit
 * of 65,535.
 * @param rows without duplicates; a missing field becomes null, not the column's default, unless no row has it
 * @param more SQL after the rows: `ON CONFLICT …`, `RETURNING …`
 * @returns the result of `RETURNING`
 */
export async function insertRows<Table extends PgTable>(
  session: Session,
  table: Table,
  rows: readonly InferInsertModel<Table>[],
  more: SQL = sql``,
): Promise<readonly Record<string, unknown>[]> {
  if (rows.length === 0) return [];
  const given = rows.map((row) => new Map<string, unknown>(Object.entries(row)));
  const used = Object.entries(getTableColumns<PgTable>(table)).filter(([key]) => given.some((row) => row.get(key) !== undefined));
  const documents = given.map((row) => Object.fromEntries(used.map(([key, { name }]) => [name, asJson(row.get(key))])));
  const names = sql.raw(used.map(([, { name }]) => `"${name}"`).join(', '));
  const document = JSON.stringify(documents);
  const { rows: returned } = await session.execute(
    sql`INSERT INTO ${table} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${table}, ${document}::json) ${more}`,
  );
  return returned;
}

/** A value in the form that its column's type parses. */
function asJson(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? value.map(asJson) : value;
}
