/**
 * What is made while it is not known whether it will be needed: it stays unheard until it is taken.
 */
export class MadeAhead<Item> {
  readonly #abort = new AbortController();
  readonly #items: Item[] = [];
  readonly #most: number;
  #ended = false;
  #failure: unknown;
  #wake: () => void = () => undefined;

  /** @param most items; more of them are a fault */
  constructor(make: (signal: AbortSignal) => AsyncIterable<Item>, most: number) {
    this.#most = most;
    void this.#make(make);
  }

  /** What is there so far, and as it continues; for one reader. @throws what its making throws */
  async *take(signal: AbortSignal): AsyncIterable<Item> {
    const onAbort = (): void => this.discard();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (let next = 0; ; next += 1) {
        while (next >= this.#items.length && !this.#ended && !signal.aborted) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        const item = this.#items[next];
        if (item === undefined || signal.aborted) break;
        yield item;
      }
      if (this.#failure !== undefined && !signal.aborted) throw this.#failure;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Whether it is known to have failed. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Aborts what is not needed. */
  discard(): void {
    this.#abort.abort(new Error('the caller said something else'));
    this.#wake();
  }

  async #make(make: (signal: AbortSignal) => AsyncIterable<Item>): Promise<void> {
    try {
      for await (const item of make(this.#abort.signal)) {
        if (this.#abort.signal.aborted) break;
        if (this.#items.length >= this.#most) throw new RangeError(`more than ${this.#most} parts in one answer`);
        this.#items.push(item);
        this.#wake();
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#ended = true;
    this.#wake();
  }
}
