import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from './errors.ts';

/** Flushes a folder, which makes a rename in it durable; systems that cannot are ignored. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    if (!hasCode(error, 'EINVAL', 'EPERM')) throw error;
  } finally {
    await folder.close();
  }
}

/**
 * Group commit: each caller gets a flush that began after its request, and callers during a running flush share the next one. A
 * failure concerns only those who share that flush.
 */
export class SharedFlush {
  readonly #flush: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  ask(): Promise<void> {
    if (this.#running === undefined) return this.#begin();
    const begin = (): Promise<void> => {
      this.#next = undefined;
      return this.#begin();
    };
    return (this.#next ??= this.#running.then(begin, begin));
  }

  #begin(): Promise<void> {
    const running = this.#flush();
    this.#running = running;
    const over = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(over, over);
    return running;
  }
}
