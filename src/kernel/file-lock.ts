import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { stayAwake, systemClock } from './clock.ts';
import { hasCode } from './errors.ts';
import { parseJson } from './json.ts';
import { livenessOf, processIdentity, thisProcess } from './process-identity.ts';
import { sleep } from './waiting.ts';

/** The work under a lock takes milliseconds: an older one of a process that can't be looked up is a dead process's. */
const STALE_MS = 10_000;
/** Younger locks are not looked into: nearly all of them are about to be released. */
const YOUNG_MS = 100;
const WAIT_MS = 15_000;
const RETRY_MS = 20;
const SOON_RETRY_MS = 5;

const lockFacts = z.looseObject({ owner: processIdentity });
let owner: ReturnType<typeof thisProcess> | undefined;

/** A lock file beside a file that a process changes, for short work. */
export class FileLock {
  readonly #path: string;
  readonly #token: string;

  private constructor(path: string, token: string) {
    this.#path = path;
    this.#token = token;
  }

  /**
   * Takes the lock; blocks the thread while it waits.
   * @returns undefined when others have had it for all of `waitMs`
   */
  static take(path: string, waitMs = WAIT_MS): FileLock | undefined {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const lock = FileLock.#attempt(path);
      if (lock !== undefined || performance.now() > endMs) return lock;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }

  /** The same without blocking the thread. */
  static async takeSoon(path: string, waitMs = WAIT_MS): Promise<FileLock | undefined> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const lock = FileLock.#attempt(path);
      if (lock !== undefined || performance.now() > endMs) return lock;
      await stayAwake(sleep(systemClock, SOON_RETRY_MS));
    }
  }

  static #attempt(path: string): FileLock | undefined {
    owner ??= thisProcess();
    const token = JSON.stringify({ owner, token: randomUUID() });
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        writeFileSync(path, token, { flag: 'wx', mode: 0o600 });
        return new FileLock(path, token);
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
      if (!removeStale(path)) return undefined;
    }
    return undefined;
  }

  /** Check this before committing the work: of two processes that find a stale lock, one may remove the other's new lock. */
  get isHeld(): boolean {
    return tokenIn(this.#path) === this.#token;
  }

  release(): void {
    if (this.isHeld) rmSync(this.#path, { force: true });
  }
}

/** @returns whether the lock of a dead process was removed */
function removeStale(path: string): boolean {
  if (!isOlderThan(path, YOUNG_MS)) return false;
  const token = tokenIn(path);
  if (token === undefined) return true;
  if (!isStale(path, token)) return false;
  // One process at a time, so that a lock taken since the check is not removed.
  const remover = `${path}.stale`;
  try {
    writeFileSync(remover, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    if (isOlderThan(remover, STALE_MS)) rmSync(remover, { force: true });
    return false;
  }
  try {
    if (tokenIn(path) === token) rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(remover, { force: true });
  }
}

function tokenIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isStale(path: string, token: string): boolean {
  const facts = lockFacts.safeParse(parseJson(token)).data;
  const liveness = facts === undefined ? 'unknown' : livenessOf(facts.owner);
  return liveness === 'dead' || (liveness === 'unknown' && isOlderThan(path, STALE_MS));
}

function isOlderThan(path: string, ms: number): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs > ms;
}
