import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../kernel/errors.ts';
import { isAbandoned, isUntouched, removeTree, unlessMissing, withoutTemporaryEnding } from '../../kernel/temporary.ts';

/**
 * Folders of the data folder with files of calls. The work folder comes first: a file moved out of it during a round is found at its new place in the
 * same round.
 */
const PLACES = ['work', 'calls', 'fixtures', 'outbox', 'platform/uploads', 'recordings'] as const;
/** `recordings/<tenant>/<day>` is the deepest. */
const DEPTH = 2;
/** Most rounds: a maker that is being stopped may add a file once or twice. */
const MOST_ROUNDS = 10;

export interface CallFilesQuery {
  readonly dataDir: string;
  /** Further folders of recordings, as after the data folder was moved. */
  readonly folders?: Iterable<string>;
  readonly nowMs: number;
  /** Whether to remove a file named after a call. @param name without a temporary ending */
  readonly isMeant: (callId: string, name: string) => boolean;
  /** Calls whose torn outbox entries are removed, as their names do not tell. */
  readonly callIds?: readonly string[];
}

/**
 * Removes files and folders named after calls anywhere in the data folder, and temporary ones of dead processes. Repeats until none is left, as a
 * file may be renamed during the search.
 * @throws the file system's error: an unreadable file may be one to remove
 */
export async function removeCallFiles(query: CallFilesQuery): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    let removed = 0;
    for await (const { folder, entry, isTemporaryPlace } of filesOf(query.dataDir, query.folders)) {
      const path = join(folder, entry.name);
      if (!isMeant(query, entry) && !(await isToGo(query, path, entry.name, isTemporaryPlace))) continue;
      await removeTree(path);
      removed += 1;
    }
    if (removed === 0) return;
  }
  throw new Error('files of erased calls appear again as fast as they are removed');
}

/** Removes temporary files and folders of dead processes anywhere in the data folder. @returns how many */
export async function removeAbandonedFiles(dataDir: string, nowMs: number): Promise<number> {
  let removed = 0;
  for await (const { folder, entry, isTemporaryPlace } of filesOf(dataDir)) {
    const path = join(folder, entry.name);
    if (!(await isLeft(path, entry.name, isTemporaryPlace, nowMs))) continue;
    await removeTree(path);
    removed += 1;
  }
  return removed;
}

function isMeant(query: CallFilesQuery, entry: Dirent): boolean {
  const name = withoutTemporaryEnding(entry.name);
  // Days and tenants are folders with any name.
  if (name === entry.name && (entry.isDirectory() || !name.includes('.'))) return false;
  return query.isMeant(name.split('.', 1)[0] ?? '', name);
}

async function isToGo(
  { callIds = [], nowMs }: CallFilesQuery,
  path: string,
  name: string,
  isTemporaryPlace: boolean,
): Promise<boolean> {
  if (await isLeft(path, name, isTemporaryPlace, nowMs)) return true;
  return callIds.length > 0 && isTornEntry(name) && (await holdsAny(path, callIds));
}

async function isLeft(path: string, name: string, isTemporaryPlace: boolean, nowMs: number): Promise<boolean> {
  if (await isAbandoned(path, name, nowMs)) return true;
  // Everything here is temporary, also under names of earlier versions.
  return isTemporaryPlace && name !== 'uploads' && withoutTemporaryEnding(name) === name && isUntouched(path, nowMs);
}

/** An outbox entry in writing, or left so by a dead process. */
function isTornEntry(name: string): boolean {
  return /^\.?\d+-\d+-\d+\.entry./u.test(name) || /^\.\d+-\d+-\d+\.entry$/u.test(name);
}

async function holdsAny(path: string, callIds: readonly string[]): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(unlessMissing(''));
  return callIds.some((callId) => text.includes(callId));
}

interface Found {
  readonly folder: string;
  readonly entry: Dirent;
  /** Everything in this folder is temporary. */
  readonly isTemporaryPlace: boolean;
}

async function* filesOf(dataDir: string, others: Iterable<string> = []): AsyncGenerator<Found> {
  for (const place of PLACES) {
    const isTemporaryPlace = place === 'work' || place === 'platform/uploads';
    yield* filesBelow(join(dataDir, place), isTemporaryPlace, isTemporaryPlace ? 1 : DEPTH);
  }
  for (const folder of others) yield* filesBelow(folder, false, 0);
}

async function* filesBelow(folder: string, isTemporaryPlace: boolean, depth: number): AsyncGenerator<Found> {
  for (const entry of await entriesOf(folder)) {
    // A link may lead to another disk.
    if (depth > 0 && (entry.isDirectory() || entry.isSymbolicLink()) && withoutTemporaryEnding(entry.name) === entry.name)
      yield* filesBelow(join(folder, entry.name), isTemporaryPlace, depth - 1);
    yield { folder, entry, isTemporaryPlace };
  }
}

/** A disk's mount point has an unreadable `lost+found`. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}
