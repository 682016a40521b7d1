import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from './error-code.ts';
import { thisProcess } from './process-identity.ts';
import { isRunning, startTicksOf } from './process-start.ts';

/**
 * Temporary files and folders: whoever makes one removes it, unless the process is killed in between. Their names say which
 * process made them (`<name>.<pid>-<start>-<place>.<random>.tmp`), so that what a dead process left can be removed at once,
 * and begin with the name of what they become, so that whoever erases a call finds its temporary files too.
 */
const ENDING = /\.([0-9a-z]+)-([0-9a-z]*)-([0-9a-f]{8})\.[0-9a-f]{8}\.tmp$/u;
/** Names that earlier versions gave, and a journal's new file: without an owner. */
const UNOWNED = /\.tmp$|\.tmp\.[\d.]*wav$|\.new$|^\.\d+-\d+-\d+\.entry$/u;
const UNOWNED_ENDING = /\.[0-9a-f-]{36}\.tmp$/u;
/** A file whose owner cannot be looked at, as in another container, is worked on for less than this. */
const LONGEST_WORK_MS = 86_400_000;

let owner: string | undefined;
let place: string | undefined;

/** Where process numbers mean what they mean here: this boot of this machine, and this container. */
function thisPlace(): string {
  if (place === undefined) {
    const { bootId, pidNamespace } = thisProcess();
    place = createHash('sha256').update(`${bootId} ${pidNamespace}`).digest('hex').slice(0, 8);
  }
  return place;
}

/** A name beside `path` that nobody else has, for what becomes `path` or belongs to it. */
export function temporaryPath(path: string): string {
  owner ??= `${process.pid.toString(36)}-${startOf(process.pid)}-${thisPlace()}`;
  return `${path}.${owner}.${randomBytes(4).toString('hex')}.tmp`;
}

function startOf(pid: number): string {
  return Number(startTicksOf(pid)).toString(36);
}

/** The name that `temporaryPath` was given; any other name as it is. */
export function withoutTemporaryEnding(name: string): string {
  return name.replace(ENDING, '').replace(UNOWNED_ENDING, '');
}

/**
 * Whether this is a temporary file or folder that nobody works on any more: its process is dead, or cannot be looked at and
 * the file has not been touched for a day.
 */
export async function isAbandoned(path: string, name: string, nowMs: number): Promise<boolean> {
  const [, pid36 = '', start, where] = ENDING.exec(name) ?? [];
  if (where === thisPlace()) {
    const pid = Number.parseInt(pid36, 36);
    return !isRunning(pid) || startOf(pid) !== start;
  }
  if (where === undefined && !UNOWNED.test(name)) return false;
  return isUntouched(path, nowMs);
}

/** Whether a file or folder has not been written to for a day: nothing temporary takes as long. */
export async function isUntouched(path: string, nowMs: number): Promise<boolean> {
  const facts = await stat(path).catch(unlessMissing(undefined));
  return facts !== undefined && nowMs - facts.mtimeMs > LONGEST_WORK_MS;
}

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** A folder of its own in `parent`, which is made too; disposal removes it with all that is in it. */
export async function temporaryFolder(parent: string, name: string): Promise<TemporaryFolder> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const path = temporaryPath(join(parent, name));
  await mkdir(path, { mode: 0o700 });
  return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}

/** Removes a file or a folder, also while another process puts something into it. */
export function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** @throws what the file system throws, unless it says that there is nothing */
export function unlessMissing<Value>(instead: Value): (error: unknown) => Value {
  return (error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return instead;
    throw error;
  };
}

export interface ReservedFile extends AsyncDisposable {
  /**
   * Puts this whole into the file's place.
   * @throws ENOENT where the reservation was removed meanwhile: what it was for was erased, and nothing is written
   */
  replace(content: string | Uint8Array): Promise<void>;
}

/**
 * Holds a place beside a file that is to be written. Whoever erases what the file is about removes the reservation by its name,
 * and nothing can be written then: reserve first, then ask whether it was erased, then write.
 */
export async function reserveFile(path: string): Promise<ReservedFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = temporaryPath(path);
  await writeFile(temporary, '', { flag: 'wx', mode: 0o600 });
  return {
    async replace(content) {
      const file = await open(temporary, 'r+');
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    },
    [Symbol.asyncDispose]: () => rm(temporary, { force: true }),
  };
}

/** Writes a file so that a reader finds it whole, as it was or as it is now, whatever interrupts this. */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await reserveFile(path);
  await file.replace(content);
}
