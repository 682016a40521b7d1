import type { DialogAction } from '../../dialog/port.ts';

/** Most actions in one answer; a longer one is a fault. */
const MOST_ACTIONS = 1_000;

/**
 * A dialog's answer to words the caller may not have finished. It is made while the caller may still go on, stays unheard, and is used only if the
 * words turn out the same.
 */
export class EarlyAnswer {
  readonly turn: number;
  readonly text: string;
  readonly #abort = new AbortController();
  readonly #actions: DialogAction[] = [];
  #ended = false;
  #failure: unknown;
  #wake: () => void = () => undefined;

  /** @param text the words it answers */
  constructor(turn: number, text: string, respond: (signal: AbortSignal) => AsyncIterable<DialogAction>) {
    this.turn = turn;
    this.text = text;
    void this.#make(respond);
  }

  /** The answer so far and as it continues; for one reader. @throws what the dialog throws */
  async *take(signal: AbortSignal): AsyncIterable<DialogAction> {
    const onAbort = (): void => this.discard();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (let next = 0; ; next += 1) {
        while (next >= this.#actions.length && !this.#ended && !signal.aborted) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        const action = this.#actions[next];
        if (action === undefined || signal.aborted) break;
        yield action;
      }
      if (this.#failure !== undefined && !signal.aborted) throw this.#failure;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Whether the dialog is known to have failed. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Aborts an answer that is not needed. */
  discard(): void {
    this.#abort.abort(new Error('the caller said something else'));
    this.#wake();
  }

  async #make(respond: (signal: AbortSignal) => AsyncIterable<DialogAction>): Promise<void> {
    try {
      for await (const action of respond(this.#abort.signal)) {
        if (this.#abort.signal.aborted) break;
        if (this.#actions.length >= MOST_ACTIONS) throw new RangeError(`more than ${MOST_ACTIONS} actions in one answer`);
        this.#actions.push(action);
        this.#wake();
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#ended = true;
    this.#wake();
  }
}
