import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from './errors.ts';
import { thisProcess, isRunning, startTicksOf } from './process-identity.ts';

/**
 * Temporary files and folders. Their names have the process that made them (`<name>.<pid>-<start>-<place>.<random>.tmp`), so that
 * leftovers of a killed process can be removed at once, and begin with the name of the final file, so that the erasure of a call
 * finds its temporary files too.
 */
const ENDING = /\.([0-9a-z]+)-([0-9a-z]*)-([0-9a-f]{8})\.[0-9a-f]{8}\.tmp$/u;
/** Names without an owner: those of earlier versions, and a journal's new file. */
const UNOWNED = /\.tmp$|\.tmp\.[\d.]*wav$|\.new$|^\.\d+-\d+-\d+\.entry$/u;
const UNOWNED_ENDING = /\.[0-9a-f-]{36}\.tmp$/u;
/** A file of a process in another container counts as abandoned after this time without a change. */
const LONGEST_WORK_MS = 86_400_000;

let owner: string | undefined;
let place: string | undefined;

/** Where this process's pids are valid: this boot of this machine, and this container. */
function thisPlace(): string {
  if (place === undefined) {
    const { bootId, pidNamespace } = thisProcess();
    place = createHash('sha256').update(`${bootId} ${pidNamespace}`).digest('hex').slice(0, 8);
  }
  return place;
}

/** A unique name beside `path`, for a file that becomes `path` or belongs to it. */
export function temporaryPath(path: string): string {
  owner ??= `${process.pid.toString(36)}-${startOf(process.pid)}-${thisPlace()}`;
  return `${path}.${owner}.${randomBytes(4).toString('hex')}.tmp`;
}

function startOf(pid: number): string {
  return Number(startTicksOf(pid)).toString(36);
}

/** The name that `temporaryPath` was given; other names unchanged. */
export function withoutTemporaryEnding(name: string): string {
  return name.replace(ENDING, '').replace(UNOWNED_ENDING, '');
}

/**
 * Whether this is an abandoned temporary file or folder: its process is dead, or unknown and the file has not changed for a day.
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

/** Whether a file or folder has not changed for a day: no temporary file lives as long. */
export async function isUntouched(path: string, nowMs: number): Promise<boolean> {
  const facts = await stat(path).catch(unlessMissing(undefined));
  return facts !== undefined && nowMs - facts.mtimeMs > LONGEST_WORK_MS;
}

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** Makes a unique folder in `parent`, which is made too; disposal removes it with its content. */
export async function temporaryFolder(parent: string, name: string): Promise<TemporaryFolder> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const path = temporaryPath(join(parent, name));
  await mkdir(path, { mode: 0o700 });
  return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}

/** Removes a file or a folder, also while another process writes into it. */
export function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** An error handler that returns `instead` for a missing file. @throws any other error */
export function unlessMissing<Value>(instead: Value): (error: unknown) => Value {
  return (error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return instead;
    throw error;
  };
}

export interface ReservedFile extends AsyncDisposable {
  /**
   * Replaces the file with this content.
   * @throws ENOENT when an erasure has removed the reservation; nothing is written
   */
  replace(content: string | Uint8Array): Promise<void>;
}

/**
 * Reserves a file that is to be written, with a temporary file beside it. An erasure removes the reservation by its name, and the
 * write then fails: reserve first, then check whether the subject was erased, then write.
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

/** Writes a file atomically: readers find the old or the new content, whatever interrupts this. */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await reserveFile(path);
  await file.replace(content);
}
