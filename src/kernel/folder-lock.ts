import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock, Timer } from './clock.ts';
import { hasCode } from './errors.ts';
import { type ProcessIdentity, livenessOf, processIdentity, thisProcess } from './process-identity.ts';

const lockFile = z.looseObject({ owner: processIdentity, released: z.boolean() });
/** A lock file's content: its owner, and the owner's own notes. */
export type LockFacts = z.infer<typeof lockFile>;

/** Interval of the owner's heartbeat, and the silence after which an owner in another container counts as dead. */
const HEARTBEAT_MS = 3_000;
const SILENT_MS = 15_000;

export type LockAttempt =
  | { readonly state: 'held'; readonly lock: FolderLock }
  | { readonly state: 'busy'; readonly facts: LockFacts };

/**
 * A lock between processes, safe when several start at once or the owner is killed.
 *
 * The lock is the highest numbered file of a folder. Numbers only rise: a process that finds the owner dead links the next number,
 * which the file system grants to one process only. So no process can remove a live owner's file, as can happen when a stale lock
 * is deleted and made again. The owner removes older numbers.
 */
export class FolderLock implements AsyncDisposable {
  readonly #folder: string;
  readonly #number: number;
  readonly #facts: LockFacts;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #released = false;

  private constructor(folder: string, number: number, facts: LockFacts, clock: Clock) {
    this.#folder = folder;
    this.#number = number;
    this.#facts = facts;
    this.#clock = clock;
    this.#beat();
  }

  /**
   * @param folder for this lock only; made when missing
   * @param note notes of the owner that other processes can read
   */
  static async acquire(folder: string, clock: Clock, note: Readonly<Record<string, unknown>> = {}): Promise<LockAttempt> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const facts: LockFacts = { ...note, owner: thisProcess(), released: false };
    for (;;) {
      const latest = await latestLock(folder);
      if (latest !== undefined && (await isHeld(folder, latest, clock))) return { state: 'busy', facts: latest.facts };
      const number = (latest?.number ?? 0) + 1;
      if (!(await claim(folder, number, facts))) continue;
      // A slow process may have linked a number that was removed before: a higher number then exists, and this one is void.
      const now = await latestLock(folder);
      if (now?.number === number) {
        const lock = new FolderLock(folder, number, facts, clock);
        await lock.#sweep();
        return { state: 'held', lock };
      }
      await rm(join(folder, String(number)), { force: true });
    }
  }

  /** Whether this process still has it: after a long pause, processes in other containers take the owner for dead. */
  async isHeld(): Promise<boolean> {
    return !this.#released && (await latestLock(this.#folder))?.number === this.#number;
  }

  /** Gives the lock up; the file stays, marked, so that numbers keep rising. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#timer?.cancel();
    await replace(this.#folder, this.#number, { ...this.#facts, released: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #beat(): void {
    this.#timer = this.#clock.after(HEARTBEAT_MS, () => {
      const seconds = this.#clock.wallMs() / 1000;
      void utimes(join(this.#folder, String(this.#number)), seconds, seconds).catch(() => {});
      if (!this.#released) this.#beat();
    });
  }

  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (/^\d+$/.test(name) && Number(name) < this.#number) await rm(join(this.#folder, name), { force: true });
    }
  }
}

interface NumberedLock {
  readonly number: number;
  readonly facts: LockFacts;
}

async function latestLock(folder: string): Promise<NumberedLock | undefined> {
  const numbers = (await readdir(folder)).filter((name) => /^\d+$/.test(name)).map(Number);
  if (numbers.length === 0) return undefined;
  const number = Math.max(...numbers);
  try {
    return { number, facts: lockFile.parse(JSON.parse(await readFile(join(folder, String(number)), 'utf8'))) };
  } catch (error) {
    // Removed between the two reads: look again.
    if (hasCode(error, 'ENOENT')) return latestLock(folder);
    // Files are linked or renamed into place whole; one that does not parse was damaged by the disk.
    return { number, facts: { owner: noOwner, released: true } };
  }
}

const noOwner: ProcessIdentity = { pid: 1, startTicks: 'none', bootId: 'none', pidNamespace: 'none' };

async function isHeld(folder: string, { number, facts }: NumberedLock, clock: Clock): Promise<boolean> {
  if (facts.released) return false;
  const liveness = livenessOf(facts.owner);
  if (liveness !== 'unknown') return liveness === 'alive';
  const { mtimeMs } = await stat(join(folder, String(number))).catch(() => ({ mtimeMs: 0 }));
  return clock.wallMs() - mtimeMs < SILENT_MS;
}

async function written(folder: string, facts: LockFacts): Promise<string> {
  const path = join(folder, `.${randomUUID()}`);
  await writeFile(path, JSON.stringify(facts), { mode: 0o600, flush: true });
  return path;
}

async function claim(folder: string, number: number, facts: LockFacts): Promise<boolean> {
  const path = await written(folder, facts);
  try {
    await link(path, join(folder, String(number)));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}

async function replace(folder: string, number: number, facts: LockFacts): Promise<void> {
  await rename(await written(folder, facts), join(folder, String(number)));
}
