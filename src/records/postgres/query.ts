import { z } from 'zod';
import { errorText } from '../../kernel/errors.ts';
import { StoreRecordError } from '../errors.ts';
import { isStorable } from '../record.ts';
import { type InferInsertModel, type SQL, getTableColumns, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Session } from './tenancy.ts';

const MAX_PAGE = 200;

/** Position of a page's end: time and the rest of its last row's key. */
const part = z.string().refine(isStorable);
const cursor = z.tuple([z.int(), part], part);

export type Cursor = z.infer<typeof cursor>;

export function writeCursor(place: Cursor): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** @throws StoreRecordError for an invalid cursor */
export function readCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  try {
    return cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (error) {
    throw new StoreRecordError(`not a place in a list: ${errorText(error)}`);
  }
}

/** @throws RangeError */
export function checkLimit(limit: number, most = MAX_PAGE): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > most) throw new RangeError(`limit is 1 to ${most}`);
}

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
