import { setImmediate } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { isTimeZone } from '../../config/time-zone.ts';
import { CsvReader, type CsvRow } from '../../kernel/csv-reader.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { type DialNumber, isRegion, readNumber } from '../number.ts';
import { NumberSet } from './number-set.ts';

/** A file of contacts cannot be imported: not CSV, without a column of numbers, or over a limit. */
export class ContactsFileError extends OffhookError {
  readonly code = 'OFFHOOK_CONTACTS_FILE';
  readonly retryable = false;
}

/** A person to call. */
export interface Contact {
  readonly tenantId: string;
  readonly number: DialNumber;
  /** IANA name; undefined where the file gives none: the gate then derives the zones from the number. */
  readonly timeZone: string | undefined;
  /** Variables of the bot: all other non-empty columns, named in lower case with `_` for other characters. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Result of a row, in file order. Lines count from 1, header included. */
export type ContactRow =
  | { readonly kind: 'contact'; readonly line: number; readonly contact: Contact }
  | { readonly kind: 'duplicate'; readonly line: number; readonly firstLine: number }
  | ({ readonly kind: 'refused'; readonly line: number; readonly reason: string } & Partial<RefusedCell>);

/** The cell that made a row invalid. */
export interface RefusedCell {
  /** The column's name in the file, in lower case. */
  readonly column: string;
  /** Its first 80 characters. May be a person's number. */
  readonly value: string;
  /** What is accepted, for people. */
  readonly accepted: string;
}

/** The meaning of a column. */
export interface ContactColumn {
  /** The column's name in the file, in lower case with `_` for other characters. */
  readonly column: string;
  readonly becomes: 'number' | 'zone' | 'variable' | 'nothing';
  /** Name of the variable. */
  readonly variable?: string | undefined;
}

export interface ContactLimits {
  /** Rows below the header, refused ones included. */
  readonly maxRows: number;
  readonly maxColumns: number;
  readonly maxCellCharacters: number;
  readonly maxRowCharacters: number;
}

export const CONTACT_LIMITS: ContactLimits = {
  maxRows: 1_000_000,
  maxColumns: 100,
  maxCellCharacters: 2000,
  maxRowCharacters: 65_536,
};

export interface ContactsOptions {
  readonly tenantId: string;
  /** ISO 3166 code for numbers without `+`. */
  readonly defaultRegion?: string | undefined;
  /** Column of the numbers; absent: the first of `NUMBER_COLUMNS` in the file. */
  readonly numberColumn?: string | undefined;
  /** Column of the time zones; absent: the first of `ZONE_COLUMNS` in the file, if any. */
  readonly zoneColumn?: string | undefined;
  /** Variable names by column; an empty name drops the column. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Called with the columns before the first row. */
  readonly onColumns?: ((columns: readonly ContactColumn[]) => void) | undefined;
  /** Encoding of files without a byte order mark. */
  readonly encoding?: 'utf-8' | 'windows-1252' | undefined;
  readonly limits?: Partial<ContactLimits>;
}

export const NUMBER_COLUMNS = ['phone', 'phone_number', 'number', 'mobile', 'mobile_number', 'telephone', 'tel', 'msisdn', 'to'];
export const ZONE_COLUMNS = ['time_zone', 'timezone', 'tz', 'zone'];

/** Tab and ends of lines are fine inside of a cell. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/u;
/** Magic numbers of files that are not text: ZIP (workbooks too), gzip, Zstandard, and UTF-32. */
const NO_TEXT = [
  [0x50, 0x4b, 0x03, 0x04],
  [0x1f, 0x8b],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0xff, 0xfe, 0x00, 0x00],
  [0x00, 0x00, 0xfe, 0xff],
];
const HEAD_BYTES = 4;
/** Bytes read before yielding: live calls may be in the same process. */
const PIECE_BYTES = 8192;

/**
 * Reads contacts from CSV, row by row on demand. Memory: the current row, and at most 48 bytes for each number seen (25 MB for a million; duplicates
 * are found exactly). A bad row is reported, and reading continues.
 * @param source bytes of the file
 * @throws ContactsFileError for an unusable file: not CSV, without a column of numbers, over a limit
 */
export async function* readContacts(source: AsyncIterable<Uint8Array>, options: ContactsOptions): AsyncGenerator<ContactRow> {
  checkRegion(options.defaultRegion);
  const limits = { ...CONTACT_LIMITS, ...options.limits };
  const reader = new CsvReader(limits.maxRowCharacters);
  const seen = new NumberSet();
  let columns: (Columns & { readonly headings: readonly string[] }) | undefined;
  let count = 0;
  const rowsOf = function* (rows: readonly CsvRow[]): Generator<ContactRow> {
    for (const row of rows) {
      if (columns === undefined) {
        columns = columnsOf(row, options, limits);
        options.onColumns?.(columns.view);
        continue;
      }
      count += 1;
      if (count > limits.maxRows) throw new ContactsFileError(`the file has more than ${limits.maxRows} rows: split it`);
      if ('reason' in row) yield { kind: 'refused', ...row };
      else {
        const { headings } = columns;
        const cells = row.cells.map((cell, index) => [headings[index] || String(index + 1), cell] as const);
        yield contactOfCells(row.line, new Map(cells), columns, { ...options, limits }, seen);
      }
    }
  };
  for await (const text of decoded(source, options.encoding ?? 'utf-8')) yield* rowsOf(reader.push(text));
  yield* rowsOf(reader.end());
  if (columns === undefined)
    throw new ContactsFileError('the file is empty: a first line with the names of the columns is expected');
}

/** Decodes bytes: UTF-8, or as a byte order mark says. Invalid bytes become U+FFFD, for which the row is refused. */
export async function* decoded(source: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let head: Uint8Array = new Uint8Array();
  for await (const bytes of inPieces(source)) {
    if (decoder === undefined) {
      head = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
      if (head.length < HEAD_BYTES) continue;
      decoder = decoderOf(head, encoding);
      yield decoder.decode(head, { stream: true });
    } else yield decoder.decode(bytes, { stream: true });
  }
  if (decoder === undefined) yield decoderOf(head, encoding).decode(head);
  else yield decoder.decode();
}

/** Yields small pieces, letting other work run in between. */
async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const part of source) {
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      const piece = part.subarray(at, at + PIECE_BYTES);
      yield piece;
      read += piece.length;
      if (read < PIECE_BYTES) continue;
      read = 0;
      await setImmediate();
    }
  }
}

/** @throws ContactsFileError */
function decoderOf(head: Uint8Array, encoding: string): TextDecoder {
  const [first, second] = head;
  if (NO_TEXT.some((start) => start.every((byte, index) => head[index] === byte))) {
    throw new ContactsFileError('the file is a workbook, an archive or compressed, not CSV: save it as CSV UTF-8');
  }
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be');
  return new TextDecoder(first === 0xef && second === 0xbb ? 'utf-8' : encoding);
}

/** What a file's columns, or the members of its objects, mean. */
export interface Columns {
  readonly number: string;
  /** Empty without a zone. */
  readonly zone: string;
  readonly variables: readonly (readonly [column: string, name: string])[];
  readonly view: readonly ContactColumn[];
}

/** @param region ISO 3166 code @throws ContactsFileError */
export function checkRegion(region: string | undefined): void {
  if (region !== undefined && !isRegion(region))
    throw new ContactsFileError(`${region} is not a region: an ISO 3166 code such as IN or US is expected`);
}

/**
 * The columns' names.
 * @throws ContactsFileError when the first line is not text, or has too many columns
 */
export function headerNames(header: CsvRow, maxColumns: number): string[] {
  if ('reason' in header) throw new ContactsFileError(`the header, line ${header.line}, cannot be read: ${header.reason}`);
  const { cells } = header;
  if (cells.length > maxColumns) {
    throw new ContactsFileError(`the file has ${cells.length} columns, at most ${maxColumns} are read`);
  }
  if (cells.some((cell) => cell.includes('\uFFFD') || CONTROL.test(cell))) {
    throw new ContactsFileError('the header is not readable text: save the file as CSV UTF-8');
  }
  return cells.map((cell) => variableName(cell));
}

/** @throws ContactsFileError */
function columnsOf(
  header: CsvRow,
  options: ContactsOptions,
  limits: ContactLimits,
): Columns & { readonly headings: readonly string[] } {
  const names = headerNames(header, limits.maxColumns);
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice !== undefined) throw new ContactsFileError(`two columns are called ${twice}: rename one of them`);
  const { numberColumn: wanted = `one of ${NUMBER_COLUMNS.join(', ')}`, zoneColumn } = options;
  const missing = (name: string): ContactsFileError =>
    new ContactsFileError(`no column is called ${name}: the file has ${names.join(', ').slice(0, 200)}`);
  const number = columnNamed(options.numberColumn, NUMBER_COLUMNS, names);
  if (number === undefined) throw missing(wanted);
  const zone = columnNamed(zoneColumn, ZONE_COLUMNS, names);
  if (zone === undefined && zoneColumn !== undefined) throw missing(zoneColumn);
  return { headings: names, ...meaningOf(names, number, zone, options.variables) };
}

/** @param variables as in the options @throws ContactsFileError */
export function meaningOf(
  names: readonly string[],
  number: string,
  zone: string | undefined,
  variables: ContactsOptions['variables'],
): Columns {
  const renamed = variableNames(names, variables);
  const view = names.map((column, index): ContactColumn => {
    if (column !== '' && (column === number || column === zone))
      return { column, becomes: column === number ? 'number' : 'zone' };
    const variable = renamed[index] ?? '';
    return variable === '' ? { column, becomes: 'nothing' } : { column, becomes: 'variable', variable };
  });
  const pairs = view.flatMap(({ column, variable }) => (variable === undefined ? [] : [[column, variable] as const]));
  return { number, zone: zone ?? '', variables: pairs, view };
}

/**
 * Variable names of columns.
 * @param other names from the options, by column
 * @throws ContactsFileError for a named column that does not exist, or two columns with one variable
 */
export function variableNames(columns: readonly string[], other: ContactsOptions['variables'] = {}): string[] {
  const renamed = new Map(Object.entries(other).map(([column, name]) => [variableName(column), variableName(name)]));
  const unknown = [...renamed.keys()].find((column) => !columns.includes(column));
  if (unknown !== undefined)
    throw new ContactsFileError(`no column is called ${unknown}: the file has ${columns.join(', ').slice(0, 200)}`);
  const names = columns.map((column) => renamed.get(column) ?? column);
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice !== undefined) throw new ContactsFileError(`two columns become the variable ${twice}: name one of them otherwise`);
  return names;
}

/** `First name` becomes `first_name`, a valid placeholder. */
export function variableName(cell: string): string {
  return cell
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/gu, '');
}

export function columnNamed(wanted: string | undefined, usual: readonly string[], names: readonly string[]): string | undefined {
  const candidates = wanted === undefined ? usual : [variableName(wanted)];
  return candidates.find((name) => names.includes(name));
}

/** Reads one contact. @param cells by column; those that are no text are refused */
export function contactOfCells(
  line: number,
  cells: ReadonlyMap<string, unknown>,
  { number, zone, variables }: Columns,
  { limits, ...options }: ContactsOptions & { readonly limits: ContactLimits },
  seen: NumberSet,
): ContactRow {
  const texts = new Map<string, string>();
  for (const [column, cell] of cells) {
    const isText = typeof cell === 'string';
    const problem = isText ? cellProblem(cell, limits.maxCellCharacters) : 'is neither text nor number';
    if (problem !== undefined) {
      const value = isText ? cell : jsonOf(cell);
      return refusedRow(line, `column ${column} ${problem}`, { column, value, accepted: textOf(limits) });
    }
    if (isText) texts.set(column, cell);
  }
  const cellOf = (column: string): string => texts.get(column)?.trim() ?? '';
  const named = variables.map(([column, name]) => [name, cellOf(column)] as const).filter(([, value]) => value !== '');
  const given = { line, number: texts.get(number) ?? '', zone: cellOf(zone), columns: { number, zone } };
  return contactOf({ ...given, variables: Object.fromEntries(named) }, options, seen);
}

/** A value may be nested too deeply to serialise. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return Array.isArray(value) ? '[…]' : '{…}';
  }
}

/** Cells are shown up to this length. */
const SHOWN_CHARACTERS = 80;

function refusedRow(line: number, reason: string, cell: RefusedCell): ContactRow {
  return { kind: 'refused', line, reason, ...shownCell(cell) };
}

export function shownCell(cell: RefusedCell): RefusedCell {
  return { ...cell, value: cell.value.slice(0, SHOWN_CHARACTERS) };
}

/** Accepted forms of a number. @param region ISO 3166 code for numbers without `+` */
export function numberText(region: string | undefined): string {
  const national = region === undefined ? '' : `, or one of ${region} without it`;
  return `a telephone number with + and country code, such as +919876543210${national}`;
}

export function textOf({ maxCellCharacters }: Pick<ContactLimits, 'maxCellCharacters'>): string {
  return `text of at most ${maxCellCharacters} characters, without control characters`;
}

/** @param row.zone empty without a zone; `columns` are the columns of number and zone */
export function contactOf(
  row: {
    readonly line: number;
    readonly number: string;
    readonly zone: string;
    readonly variables: Contact['variables'];
    readonly columns: { readonly number: string; readonly zone: string };
  },
  { tenantId, defaultRegion }: Pick<ContactsOptions, 'tenantId' | 'defaultRegion'>,
  seen: NumberSet,
): ContactRow {
  const { line, zone, variables, columns } = row;
  const number = readNumber(row.number, defaultRegion);
  if ('reason' in number) {
    const cell = { column: columns.number, value: row.number, accepted: numberText(defaultRegion) };
    return refusedRow(line, number.reason, cell);
  }
  if (zone !== '' && !isKnown(zone)) {
    const reason = `${zone.slice(0, 40)} is not a time zone such as Asia/Kolkata`;
    const accepted = 'a name of the time zone database, such as Asia/Kolkata or America/New_York, or nothing';
    return refusedRow(line, reason, { column: columns.zone, value: zone, accepted });
  }
  const firstLine = seen.add(number.e164, line);
  if (firstLine !== undefined) return { kind: 'duplicate', line, firstLine };
  return { kind: 'contact', line, contact: { tenantId, number, timeZone: zone === '' ? undefined : zone, variables } };
}

/** A contact from a program. */
export interface GivenContact {
  readonly number: string;
  readonly timeZone?: string | undefined;
  /** Names are converted to variable names, as for columns. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** Reads contacts from a list; `line` counts from 1. */
export function* readContactList(
  list: readonly GivenContact[],
  options: Pick<ContactsOptions, 'tenantId' | 'defaultRegion' | 'limits'>,
): Generator<ContactRow> {
  const { maxCellCharacters } = { ...CONTACT_LIMITS, ...options.limits };
  const seen = new NumberSet();
  for (const [index, { number, timeZone = '', variables = {} }] of list.entries()) {
    const line = index + 1;
    const named = Object.entries(variables).map(([name, value]) => [variableName(name), value.trim()] as const);
    const problems = [['number', number] as const, ...named].map(([name, value]) => {
      const problem = name === '' ? 'has no name' : cellProblem(value, maxCellCharacters);
      return problem === undefined ? undefined : `${name} ${problem}`.trim();
    });
    const reason = problems.find((problem) => problem !== undefined);
    const given = {
      line,
      number,
      zone: timeZone.trim(),
      variables: Object.fromEntries(named.filter(([, value]) => value !== '')),
      columns: { number: 'number', zone: 'timeZone' },
    };
    yield reason === undefined ? contactOf(given, options, seen) : { kind: 'refused', line, reason };
  }
}

export function cellProblem(cell: string, maxCharacters: number): string | undefined {
  if (cell.length > maxCharacters) return `has more than ${maxCharacters} characters`;
  if (CONTROL.test(cell)) return 'has a control character';
  return cell.includes('\uFFFD') ? 'has bytes that are not text in the encoding of the file: save it as CSV UTF-8' : undefined;
}

/** Cache of checked zones: a file has few of them many times, and Intl is slow. */
const knownZones = new Map<string, boolean>();

function isKnown(zone: string): boolean {
  const known = knownZones.get(zone) ?? isTimeZone(zone);
  if (knownZones.size < 1000) knownZones.set(zone, known);
  return known;
}
