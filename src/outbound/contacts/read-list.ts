import { z } from 'zod';
import { CsvReader, type CsvRow } from '../../kernel/csv-reader.ts';
import { type Consent, type SuppressionEntry, EVIDENCE_KINDS, PURPOSES } from '../../records/dialling.ts';
import { readNumber } from '../number.ts';
import {
  cellProblem,
  checkRegion,
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
import { createHash } from 'node:crypto';

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
  checkRegion(defaultRegion);
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
  const named = columnNamed(numberColumn, NUMBER_COLUMNS, names);
  if (named !== undefined) return { names, number: names.indexOf(named), isPlain: false };
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

/** A consent as given: parts may be missing or invalid. */
export interface GivenConsent {
  readonly id?: string | undefined;
  readonly level?: string | undefined;
  readonly purposes: readonly string[];
  readonly givenAtMs: number | undefined;
  readonly expiresAtMs?: number | undefined;
  /** The proof: address or number of a form, a recording, a document. */
  readonly evidence?: string | undefined;
  readonly evidenceKind?: string | undefined;
  /** Where it was captured: a web page, a campaign, a branch. */
  readonly evidenceSource?: string | undefined;
  readonly registeredId?: string | undefined;
}

/** Least letters and digits of a reference; a shorter one does not identify a document. */
const LEAST_REFERENCE = 4;
const LEAST_SOURCE = 3;
const MOST_CHARACTERS = { evidence: 2000, evidence_source: 200, registered_id: 200, id: 100 } as const;

/**
 * Checks a consent and completes it, or returns what it lacks; the same rules for API, commands and files. Without a given id, equal facts have equal
 * ids.
 * @param nowMs the latest possible time of the consent
 */
export function consentOf(given: GivenConsent, nowMs: number): Consent | { readonly reason: string } {
  const { level, givenAtMs, expiresAtMs, evidenceKind: kind, registeredId } = given;
  const [evidence = '', source = ''] = [given.evidence?.trim(), given.evidenceSource?.trim()];
  const purposes = PURPOSES.filter((purpose) => given.purposes.includes(purpose));
  const unknown = given.purposes.find((name) => name !== '' && !PURPOSES.some((purpose) => purpose === name));
  const evidenceKind = EVIDENCE_KINDS.find((each) => each === kind);
  if (level !== 'express' && level !== 'written') return { reason: 'level has to be express or written' };
  if (unknown !== undefined) return { reason: `${unknown.slice(0, 40)} is no purpose: there are ${PURPOSES.join(', ')}` };
  if (purposes.length === 0) return { reason: `purposes names none: there are ${PURPOSES.join(', ')}` };
  if (givenAtMs === undefined) return { reason: 'given_at is missing: when the person consented' };
  const wrongDate = pastProblem(givenAtMs, 'given_at', nowMs);
  if (wrongDate !== undefined) return { reason: wrongDate };
  if (expiresAtMs !== undefined && expiresAtMs <= givenAtMs) return { reason: 'expires_at is not after given_at' };
  if (evidence === '') return { reason: 'evidence is missing: a consent without evidence does not count' };
  if (lettersOf(evidence).length < LEAST_REFERENCE || new Set(lettersOf(evidence)).size < 2)
    return { reason: 'evidence is too short to find it again: the address or the number of a form, a recording, a document' };
  if (evidenceKind === undefined) return { reason: `evidence_kind has to be one of ${EVIDENCE_KINDS.join(', ')}` };
  if (level === 'written' && evidenceKind === 'verbal')
    return { reason: 'evidence_kind verbal proves no written consent: its level is express' };
  if (lettersOf(source).length < LEAST_SOURCE)
    return { reason: 'evidence_source is missing: where it was captured, such as a web page, a campaign or a branch' };
  for (const [name, text] of [
    ['evidence', evidence],
    ['evidence_source', source],
    ['registered_id', registeredId ?? ''],
    ['id', given.id ?? ''],
  ] as const)
    if (text.length > MOST_CHARACTERS[name]) return { reason: `${name} is longer than ${MOST_CHARACTERS[name]} characters` };
  const hash = createHash('sha256').update(JSON.stringify([level, purposes, givenAtMs, evidence, registeredId]));
  return {
    id: given.id ?? `con_${hash.digest('hex').slice(0, 24)}`,
    level,
    purposes,
    givenAtMs,
    expiresAtMs,
    evidence,
    evidenceKind,
    evidenceSource: source,
    registeredId,
  };
}

function lettersOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]/gu) ?? [];
}

/** Earliest plausible time. */
const EARLIEST_MS = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;
/** Allowed clock difference between machines. */
const CLOCKS_DIFFER_MS = 5 * 60_000;
/** A day is stored as its UTC start, but starts up to this much earlier in other zones. */
const DAY_BEGINS_EARLIER_MS = 14 * 3_600_000;

/** @returns why a past moment is invalid: it is in the future, or absurdly early */
export function pastProblem(atMs: number, name: string, nowMs: number): string | undefined {
  const toleranceMs = atMs % DAY_MS === 0 ? DAY_BEGINS_EARLIER_MS : CLOCKS_DIFFER_MS;
  if (atMs > nowMs + toleranceMs) return `${name} is in the future`;
  return atMs < EARLIEST_MS ? `${name} is before 1990, which can't be right` : undefined;
}
