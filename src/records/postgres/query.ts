import { z } from 'zod';
import { errorText } from '../../kernel/errors.ts';
import { StoreRecordError } from '../errors.ts';
import { isStorable } from '../record.ts';
import { and, type Column, eq, getTableColumns, type InferInsertModel, type InferSelectModel, type SQL, sql } from 'drizzle-orm';
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
 * The condition for rows after a page's end.
 * @param columns that order the rows: a time, then the rest of the key
 * @param order `<` for newest first, `>` for oldest first
 * @returns undefined for the first page
 * @throws StoreRecordError for an invalid cursor
 */
export function pastCursor(
  text: string | undefined,
  columns: readonly (Column | SQL)[],
  order: '<' | '>' = '<',
): SQL | undefined {
  const place = readCursor(text);
  if (place === undefined) return undefined;
  const values = columns.map((_, part) => sql`${place[part] ?? ''}`);
  return sql`(${sql.join([...columns], sql`, `)}) ${sql.raw(order)} (${sql.join(values, sql`, `)})`;
}

/**
 * Cuts a page off rows that were read with one more than the page has, which tells whether the list goes on.
 * @param placeOf of the page's last row, for the cursor
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Cursor,
): { readonly page: readonly Row[]; readonly next: string | undefined } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, next: last === undefined ? undefined : writeCursor(placeOf(last)) };
}

/** Conditions for columns that equal the given values; undefined ones are not asked for. */
export function equals<Table extends PgTable>(
  table: Table,
  values: { readonly [Key in keyof InferSelectModel<Table>]?: InferSelectModel<Table>[Key] | undefined },
): SQL | undefined {
  const columns = getTableColumns<PgTable>(table);
  const given = new Map<string, unknown>(Object.entries(values));
  return and(
    ...Object.entries(columns).map(([key, column]) => (given.get(key) === undefined ? undefined : eq(column, given.get(key)))),
  );
}

/** A row whose nulls are undefined. */
export type Present<Row> = {
  [Key in keyof Row]: null extends Row[Key] ? Exclude<Row[Key], null> | undefined : Row[Key];
};

/** Turns SQL's nulls into undefined, as our records have it. */
export function present<Row extends object>(row: Row): Present<Row> {
  // The entries are the row's own.
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value ?? undefined])) as Present<Row>;
}

/** Leaves SQL's nulls out, as a stored call's record has it. */
export function withoutNulls(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
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
