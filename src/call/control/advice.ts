/** Most whispers that wait for the caller's next turn. */
const MOST_ADVICE = 20;

/** Whispers for the dialog's next turn, and those of the last turn, which may be asked again. */
export class Advice {
  #waiting: readonly string[] = [];
  #told: { readonly turn: number; readonly texts: readonly string[] } = { turn: -1, texts: [] };

  add(text: string): void {
    this.#waiting = [...this.#waiting, text].slice(-MOST_ADVICE);
  }

  /** The whispers of a turn; the same ones when it is asked again. */
  forTurn(turn: number): { readonly advice?: readonly string[] } {
    const before = this.#told.turn === turn ? this.#told.texts : [];
    const texts = [...before, ...this.#waiting];
    this.#waiting = [];
    this.#told = { turn, texts };
    return texts.length === 0 ? {} : { advice: texts };
  }
}
