import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from './error-code.ts';

/** A rename is durable once the folder is; not every system can flush one. */
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
 * One flush for many who ask: each gets one that begins after it asked, and those who ask while one goes on share the next.
 * A flush that fails fails for those who share it, and for nobody else.
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
