import { OutboxFullError } from '../jobs/errors.ts';
import type { Outbox } from '../jobs/outbox.ts';

/** After so many entries what is left of them is counted anew. */
const COUNT_EVERY = 500;

/**
 * An outbox that another process empties. What that one takes out is not seen here: the folder is read again now and then, and
 * before it is called full.
 */
export class SharedOutbox implements Pick<Outbox, 'append'> {
  readonly #open: () => Promise<Outbox>;
  #outbox: Promise<Outbox>;
  #appended = 0;

  /** @param open reads the folder */
  constructor(open: () => Promise<Outbox>) {
    this.#open = open;
    this.#outbox = this.#opened();
  }

  /** As the outbox's own. @throws OutboxFullError, OutboxWriteError */
  async append(...entry: Parameters<Outbox['append']>): Promise<void> {
    this.#appended += 1;
    if (this.#appended % COUNT_EVERY === 0) this.#outbox = this.#opened();
    try {
      await (await this.#outbox).append(...entry);
    } catch (error) {
      if (!(error instanceof OutboxFullError)) throw error;
      this.#outbox = this.#opened();
      await (await this.#outbox).append(...entry);
    }
  }

  #opened(): Promise<Outbox> {
    const opening = this.#open();
    // Whoever appends hears of it, and the next one tries again.
    opening.catch(() => {
      this.#appended = COUNT_EVERY - 1;
    });
    return opening;
  }
}
