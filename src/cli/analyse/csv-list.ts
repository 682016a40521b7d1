import type { Readable } from 'node:stream';
import { CsvReader, type CsvRow } from '../../kernel/csv-reader.ts';

export type ListRow =
  | {
      readonly line: number;
      readonly path: string;
      readonly recordedAtMs: number | undefined;
      /** All other columns with a value. */
      readonly metadata: Readonly<Record<string, string>>;
    }
  | { readonly line: number; readonly reason: string };

/** Usual names of the column of recordings. */
const COLUMNS = ['path', 'file', 'filename', 'url', 'uri', 'recording', 'recording_url', 'audio'];
const RECORDED_AT = new Set(['recorded_at', 'recordedat']);
const MOST_ROW_CHARACTERS = 1_000_000;

/**
 * Reads a CSV list of recordings: the first line has the column names, and each row is one recording. A broken row is returned with
 * its line number, and the others go on.
 * @param column the column that names the recording
 */
export async function* readList(source: Readable, column?: string): AsyncIterable<ListRow> {
  const reader = new CsvReader(MOST_ROW_CHARACTERS);
  let columns: readonly string[] | undefined;
  const read = function* (rows: readonly CsvRow[]): Generator<ListRow> {
    for (const row of rows) {
      if ('reason' in row) {
        // After a header that cannot be read no column has a name.
        columns ??= [];
        yield { line: row.line, reason: `not a readable row: ${row.reason}` };
      } else if (columns === undefined) columns = row.cells.map((name) => name.trim());
      else yield rowOf(Object.fromEntries(columns.map((name, index) => [name, row.cells[index] ?? ''])), row.line, column);
    }
  };
  const chunks: AsyncIterable<string> = source.setEncoding('utf8');
  for await (const chunk of chunks) yield* read(reader.push(chunk));
  yield* read(reader.end());
}

function rowOf(record: Readonly<Record<string, string>>, line: number, column: string | undefined): ListRow {
  const names = Object.keys(record);
  const named =
    column === undefined ? names.find((name) => COLUMNS.includes(name.toLowerCase())) : names.find((name) => name === column);
  if (named === undefined) return { line, reason: `no column ${column ?? COLUMNS.slice(0, 4).join(', ')} names the recording` };
  const path = record[named] ?? '';
  if (path === '') return { line, reason: `the column ${named} is empty` };
  const rest = Object.entries(record).filter(([name, value]) => name !== named && value !== '');
  const recorded = rest.find(([name]) => RECORDED_AT.has(name.toLowerCase()))?.[1];
  const recordedAtMs = recorded === undefined ? undefined : Date.parse(recorded);
  if (Number.isNaN(recordedAtMs)) return { line, reason: `recorded_at is no time: ${recorded?.slice(0, 40)}` };
  return { line, path, recordedAtMs, metadata: Object.fromEntries(rest) };
}
