import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hasCode } from './error-code.ts';

/** What is done under such a lock takes milliseconds: one this old was left behind by a process that died. */
const STALE_MS = 10_000;
const WAIT_MS = 15_000;
const RETRY_MS = 20;

/** A file that is there while a process changes another one: for short work that is done at once. */
export class FileLock {
  readonly #path: string;
  readonly #token: string;

  private constructor(path: string, token: string) {
    this.#path = path;
    this.#token = token;
  }

  /**
   * Takes the lock, for which the whole thread waits.
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

  /** Asked before what was done counts: of two that find an old lock at once, the slower one may remove the other's new one. */
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
