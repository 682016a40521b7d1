import { Readable } from 'node:stream';
import { type CsvError, type Info, parse } from 'csv-parse';

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
 * Reads a CSV list of recordings (RFC 4180; also with semicolons or tabs, and with a byte order mark): the first line has the column
 * names, and each row is one recording. A broken row is returned with its line number, and the others go on.
 * @param column the column that names the recording
 */
export async function* readList(source: Readable, column?: string): AsyncIterable<ListRow> {
  const skipped: ListRow[] = [];
  const chunks: AsyncIterator<string> = source.setEncoding('utf8')[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const whole = Readable.from(
    (async function* rest() {
      yield first.value;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    })(),
  );
  const parser = whole.pipe(
    parse({
      bom: true,
      columns: (header: readonly string[]) => header.map((name) => name.trim()),
      delimiter: delimiterOf(first.value),
      info: true,
      max_record_size: MOST_ROW_CHARACTERS,
      skip_empty_lines: true,
      skip_records_with_error: true,
      trim: true,
      on_skip: (error: CsvError | undefined) => {
        skipped.push({ line: lineOf(error), reason: `not a readable row: ${error?.message ?? 'unknown'}` });
        return undefined;
      },
    }),
  );
  whole.on('error', (error) => parser.destroy(error));
  for await (const parsed of parser) {
    const { record, info } = parsed as { record: Record<string, string>; info: Info };
    yield* skipped.splice(0);
    yield rowOf(record, info.lines, column);
  }
  yield* skipped;
}

/** The sign that the first line has most of, outside quotes. */
function delimiterOf(text: string): string {
  const header = (/^[^\r\n]*/u.exec(text)?.[0] ?? '').replaceAll(/"[^"]*"/gu, '');
  const count = (sign: string): number => header.split(sign).length;
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
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

function lineOf(error: CsvError | undefined): number {
  const lines: unknown = error?.['lines'];
  return typeof lines === 'number' ? lines : 0;
}
