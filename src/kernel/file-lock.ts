import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hasCode } from './errors.ts';

/** The work under a lock takes milliseconds: an older one is a dead process's. */
const STALE_MS = 10_000;
const WAIT_MS = 15_000;
const RETRY_MS = 20;

/** A lock file beside a file that a process changes, for short synchronous work. */
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
    const token = randomUUID();
    const endMs = performance.now() + waitMs;
    for (;;) {
      try {
        writeFileSync(path, token, { flag: 'wx', mode: 0o600 });
        return new FileLock(path, token);
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
      if (isStale(path)) rmSync(path, { force: true });
      else if (performance.now() > endMs) return undefined;
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }

  /** Check this before committing the work: of two processes that find a stale lock, one may remove the other's new lock. */
  get isHeld(): boolean {
    try {
      return readFileSync(this.#path, 'utf8') === this.#token;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  release(): void {
    if (this.isHeld) rmSync(this.#path, { force: true });
  }
}

function isStale(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs > STALE_MS;
}
