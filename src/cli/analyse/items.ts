import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { glob, isDynamicPattern } from 'tinyglobby';
import type { Clock } from '../../kernel/clock.ts';
import { CsvReader, type CsvRow } from '../../kernel/csv-reader.ts';
import { hasCode } from '../../kernel/errors.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { sleep } from '../../kernel/waiting.ts';
import { RecordingFetchError } from '../../records/errors.ts';
import { UsageError } from '../shell/output.ts';

/** Where a recording is. */
export type Place =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string };

export interface Item {
  /** Its name in the input, or where it was found. */
  readonly name: string;
  readonly place: Place;
  /** Changes when the content changes (size and time, or ETag); undefined when unknown. */
  readonly version: string | undefined;
  readonly recordedAtMs: number | undefined;
  /** Columns of the CSV list. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Objects by their `s3://` addresses. */
export interface ObjectStorage {
  /** The object that an address names; undefined for a bucket or a folder. */
  place(address: string): Place | undefined;
  items(address: string, isRecording: (key: string) => boolean, signal: AbortSignal): AsyncIterable<Item | BrokenItem>;
}

/** An input that is not a recording. */
export interface BrokenItem {
  readonly name: string;
  readonly reason: string;
}

export interface ItemOptions {
  /** The CSV column of recordings; found by its usual names when absent. */
  readonly column?: string | undefined;
  readonly s3: ObjectStorage;
  /** The folder of results, which is skipped. */
  readonly outFolder: string;
  readonly signal: AbortSignal;
}

/** File endings of recordings in folders; a file that is named itself may have any. */
const ENDINGS = new Set(['.wav', '.mp3', '.flac', '.ogg', '.oga', '.opus', '.m4a', '.mp4', '.webm']);

/**
 * The recordings that the command's arguments name, in order; files of a folder by name.
 * @throws UsageError for an argument without a match
 */
export async function* itemsOf(inputs: readonly string[], options: ItemOptions): AsyncIterable<Item | BrokenItem> {
  for (const input of inputs) {
    options.signal.throwIfAborted();
    if (/^https?:\/\//iu.test(input)) yield { name: input, place: { kind: 'url', url: input }, ...NOTHING_KNOWN };
    else if (/^s3:\/\//iu.test(input)) yield* options.s3.items(input, isRecording, options.signal);
    else yield* localItems(input, options);
  }
}

/** Identifies a recording's place, however it was named. */
export function placeName({ place }: Item): string {
  switch (place.kind) {
    case 'file':
      return resolve(place.path);
    case 'url':
      return place.url;
    case 's3':
      return `s3://${place.bucket}/${place.key}`;
  }
}

export function isBroken(item: Item | BrokenItem): item is BrokenItem {
  return 'reason' in item;
}

const NOTHING_KNOWN = { version: undefined, recordedAtMs: undefined, metadata: {} } as const;

async function* localItems(input: string, options: ItemOptions): AsyncIterable<Item | BrokenItem> {
  const facts = await stat(input).catch(() => undefined);
  if (facts === undefined && isDynamicPattern(input)) {
    const found = (
      await glob(input.replaceAll('\\', '/'), { dot: false, expandDirectories: false, absolute: isAbsolute(input) })
    ).sort();
    if (found.length === 0) throw new UsageError(`nothing matches ${input}`);
    for (const path of found) if (isRecording(path)) yield await fileItem(path, path, {});
    return;
  }
  if (facts === undefined) throw new UsageError(`there is no file or folder ${input}`);
  if (facts.isDirectory()) yield* folderItems(input, options);
  else if (extname(input).toLowerCase() === '.csv') yield* listItems(input, options);
  else yield await fileItem(input, input, {});
}

async function* folderItems(folder: string, options: ItemOptions): AsyncIterable<Item | BrokenItem> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((left, right) => (left.name < right.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.') || resolve(path) === resolve(options.outFolder)) continue;
    if (entry.isDirectory()) yield* folderItems(path, options);
    else if (isRecording(entry.name)) yield await fileItem(path, path, {});
  }
}

function isRecording(path: string): boolean {
  return ENDINGS.has(extname(path).toLowerCase()) && !basename(path).startsWith('.');
}

async function* listItems(list: string, options: ItemOptions): AsyncIterable<Item | BrokenItem> {
  for await (const row of readList(Readable.from(readFileParts(list), { objectMode: false }), options.column)) {
    const name = `${list}:${row.line}`;
    if ('reason' in row) {
      yield { name, reason: row.reason };
      continue;
    }
    const { path: named, metadata, recordedAtMs } = row;
    const known = { metadata, ...(recordedAtMs === undefined ? {} : { recordedAtMs }) };
    if (/^https?:\/\//iu.test(named)) yield { ...NOTHING_KNOWN, name: named, place: { kind: 'url', url: named }, ...known };
    else if (/^s3:\/\//iu.test(named)) {
      const place = options.s3.place(named);
      yield place === undefined
        ? { name, reason: `not an address of an object: ${named}` }
        : { ...NOTHING_KNOWN, name: named, place, ...known };
    } else {
      const path = isAbsolute(named) ? named : join(dirname(list), named);
      const item = await fileItem(named, path, metadata);
      yield isBroken(item) ? { name, reason: `${item.reason}: ${named}` } : { ...item, ...known };
    }
  }
}

async function fileItem(name: string, path: string, metadata: Readonly<Record<string, string>>): Promise<Item | BrokenItem> {
  const facts: Stats | undefined = await stat(path).catch(() => undefined);
  if (facts === undefined) return { name, reason: 'there is no such file' };
  if (!facts.isFile()) return { name, reason: 'not a file' };
  const version = `${facts.size}:${Math.round(facts.mtimeMs)}`;
  return { name, place: { kind: 'file', path }, version, recordedAtMs: facts.mtimeMs, metadata };
}

/** Poll interval: network drives do not report changes. */
const POLL_MS = 2000;

/**
 * Watches the inputs for new and changed recordings; yields each once it has the same version in two polls.
 * @param known recordings of the first run
 * @param onProblem gets a failed poll, which is repeated: an unreachable bucket, a moved folder
 * @throws the signal's reason when aborted, which is its only end
 */
export async function* watchItems(
  inputs: readonly string[],
  known: readonly (Item | BrokenItem)[],
  options: ItemOptions,
  clock: Clock,
  onProblem: (error: unknown) => void,
): AsyncIterable<readonly Item[]> {
  const seen = new Set(known.filter((item) => !isBroken(item)).map(identity));
  let before = new Set<string>();
  for (;;) {
    await sleep(clock, POLL_MS, options.signal);
    const now: Item[] = [];
    try {
      for await (const item of itemsOf(inputs, options)) if (!isBroken(item) && !seen.has(identity(item))) now.push(item);
    } catch (error) {
      // An empty folder may get files again.
      if (!(error instanceof UsageError)) {
        if (!mayPass(error)) throw error;
        onProblem(error);
      }
    }
    const whole = now.filter((item) => before.has(identity(item)));
    before = new Set(now.map(identity));
    for (const item of whole) seen.add(identity(item));
    if (whole.length > 0) yield whole;
  }
}

function mayPass(error: unknown): boolean {
  return (error instanceof RecordingFetchError && error.retryable) || hasCode(error, 'ENOENT', 'ESTALE', 'EIO');
}

function identity({ name, ...item }: Item | BrokenItem): string {
  return JSON.stringify([name, 'version' in item ? item.version : undefined]);
}

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
