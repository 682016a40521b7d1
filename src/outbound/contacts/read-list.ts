import { z } from 'zod';
import { CsvReader, type CsvRow } from '../../kernel/csv-reader.ts';
import type { Consent, SuppressionEntry } from '../../records/dialling.ts';
import { isRegion, readNumber } from '../number.ts';
import { consentOf, pastProblem } from './consent.ts';
import {
  cellProblem,
  columnNamed,
  CONTACT_LIMITS,
  ContactsFileError,
  type ContactsOptions,
  decoded,
  headerNames,
  NUMBER_COLUMNS,
  numberText,
  type RefusedCell,
  shownCell,
  textOf,
} from './read-contacts.ts';

const moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** A row of a list, or the reason for its rejection. Lines count from 1, header included. */
export type ListRow<Entry> =
  | { readonly line: number; readonly entry: Entry }
  | ({ readonly line: number; readonly reason: string } & Partial<RefusedCell>);

export type ListOptions = Pick<ContactsOptions, 'defaultRegion' | 'numberColumn' | 'encoding'>;
/** The latest possible time of anything in the file. */
type Now = { readonly nowMs: number };

type Suppressed = SuppressionEntry & { readonly number: string };
type Consented = Consent & { readonly number: string };

/** Non-empty cells by column name. */
type Cells = Readonly<Partial<Record<string, string>>>;
/** The entry of a row, or why it is invalid. */
type Read<Entry> = (number: string, cells: Cells) => Entry | { readonly reason: string };

/**
 * Reads do-not-call numbers: CSV with a header, or one number a line without one. Columns beside the number: `until`, `added_at`, `note`.
 * @param list defaults of the rows
 * @throws ContactsFileError for an unusable file
 */
export function readSuppressions(
  source: AsyncIterable<Uint8Array>,
  list: Pick<SuppressionEntry, 'list' | 'addedAtMs' | 'untilMs' | 'source'>,
  options: ListOptions & Now,
): AsyncGenerator<ListRow<Suppressed>> {
  return rowsOf<Suppressed>(source, options, true, (number, cells) => {
    const until = readMoment(cells['until'] ?? cells['expires_at'], 'until');
    const added = readMoment(cells['added_at'] ?? cells['date'], 'added_at');
    if (typeof until === 'string') return { reason: until };
    if (typeof added === 'string') return { reason: added };
    const wrong = added === undefined ? undefined : pastProblem(added, 'added_at', options.nowMs);
    if (wrong !== undefined) return { reason: wrong };
    const { untilMs = until, addedAtMs } = list;
    return { ...list, number, untilMs: until ?? untilMs, addedAtMs: added ?? addedAtMs, note: cells['note'] };
  });
}

/**
 * Reads consents: CSV with a header. Columns beside the number: `level`, `purposes`, `given_at`, `evidence`, `evidence_kind`, `evidence_source`, and
 * optionally `id`, `expires_at`, `registered_id`.
 * @throws ContactsFileError for an unusable file
 */
export function readConsents(source: AsyncIterable<Uint8Array>, options: ListOptions & Now): AsyncGenerator<ListRow<Consented>> {
  return rowsOf<Consented>(source, options, false, (number, cells) => {
    const given = readMoment(cells['given_at'], 'given_at');
    const expires = readMoment(cells['expires_at'], 'expires_at');
    if (typeof given === 'string') return { reason: given };
    if (typeof expires === 'string') return { reason: expires };
    const facts = {
      id: cells['id'],
      level: cells['level'],
      purposes: cells['purposes']?.split(/[\s,;|]+/u) ?? [],
      givenAtMs: given,
      expiresAtMs: expires,
      evidence: cells['evidence'],
      evidenceKind: cells['evidence_kind'],
      evidenceSource: cells['evidence_source'],
      registeredId: cells['registered_id'],
    };
    const consent = consentOf(facts, options.nowMs);
    return 'reason' in consent ? consent : { ...consent, number };
  });
}

/**
 * Reads a day (its UTC start) or a moment.
 * @returns milliseconds, undefined for an absent or empty text, or the reason it is invalid
 */
export function readMoment(text: string | undefined, name: string): number | undefined | string {
  const written = text?.trim() ?? '';
  if (written === '') return undefined;
  if (moment.safeParse(written).success) return Date.parse(written);
  return `${name} is no date: 2026-03-31, or a moment such as 2026-03-31T18:00:00+05:30, is expected`;
}

/** Most bad rows; a file with more is not the intended one. */
const MOST_REFUSED = 100_000;

/** @param mayBePlain whether one number a line, without a header, is accepted */
async function* rowsOf<Entry extends { readonly number: string }>(
  source: AsyncIterable<Uint8Array>,
  options: ListOptions,
  mayBePlain: boolean,
  read: Read<Entry>,
): AsyncGenerator<ListRow<Entry>> {
  const { defaultRegion } = options;
  if (defaultRegion !== undefined && !isRegion(defaultRegion))
    throw new ContactsFileError(`${defaultRegion} is not a region: an ISO 3166 code such as IN or US is expected`);
  const reader = new CsvReader(CONTACT_LIMITS.maxRowCharacters);
  let columns: Columns | undefined;
  let refused = 0;
  const entriesOf = function* (rows: readonly CsvRow[]): Generator<ListRow<Entry>> {
    for (const row of rows) {
      if (columns === undefined) {
        columns = columnsOf(row, options, mayBePlain);
        if (!columns.isPlain) continue;
      }
      const found = 'reason' in row ? row : entryOf(row, columns, defaultRegion, read);
      if ('reason' in found && (refused += 1) > MOST_REFUSED)
        throw new ContactsFileError(`more than ${MOST_REFUSED} rows are refused, that of line ${row.line} too: ${found.reason}`);
      yield found;
    }
  };
  for await (const text of decoded(source, options.encoding ?? 'utf-8')) yield* entriesOf(reader.push(text));
  yield* entriesOf(reader.end());
  if (columns === undefined && !mayBePlain)
    throw new ContactsFileError('the file is empty: a first line with the names of the columns is expected');
}

interface Columns {
  readonly names: readonly string[];
  readonly number: number;
  /** Whether the file has no header. */
  readonly isPlain: boolean;
}

/** @throws ContactsFileError */
function columnsOf(header: CsvRow, { numberColumn, defaultRegion }: ListOptions, mayBePlain: boolean): Columns {
  const names = headerNames(header, CONTACT_LIMITS.maxColumns);
  const number = columnNamed(numberColumn, NUMBER_COLUMNS, names);
  if (number !== undefined) return { names, number, isPlain: false };
  const [first = ''] = 'cells' in header ? header.cells : [];
  const isNumber = !('reason' in readNumber(first, defaultRegion)) || /^[+(]?\d[\d\s().-]{4,}$/u.test(first.trim());
  if (mayBePlain && numberColumn === undefined && names.length === 1 && isNumber)
    return { names: ['number'], number: 0, isPlain: true };
  const wanted = numberColumn ?? `one of ${NUMBER_COLUMNS.join(', ')}`;
  throw new ContactsFileError(
    `no column is called ${wanted}: the file has ${names.join(', ').slice(0, 200)}${mayBePlain ? ', and is no list of a number a line' : ''}`,
  );
}

function entryOf<Entry extends { readonly number: string }>(
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  { names, number: column }: Columns,
  region: string | undefined,
  read: Read<Entry>,
): ListRow<Entry> {
  const named: Record<string, string> = {};
  for (const [index, cell] of cells.entries()) {
    const name = names[index] ?? String(index + 1);
    const problem = cellProblem(cell, CONTACT_LIMITS.maxCellCharacters);
    if (problem !== undefined)
      return problemRow(line, `column ${name} ${problem}`, { column: name, value: cell, accepted: textOf(CONTACT_LIMITS) });
    if (index !== column && cell.trim() !== '') named[name] = cell.trim();
  }
  const given = cells[column] ?? '';
  const number = readNumber(given, region);
  if ('reason' in number)
    return problemRow(line, number.reason, { column: names[column] ?? '1', value: given, accepted: numberText(region) });
  const entry = read(number.e164, named);
  return 'number' in entry ? { line, entry } : { line, reason: entry.reason };
}

function problemRow(line: number, reason: string, cell: RefusedCell): { line: number; reason: string } & RefusedCell {
  return { line, reason, ...shownCell(cell) };
}
