/** Whispers that wait for the caller's next turn. */
const MOST_ADVICE = 20;

/** What the dialog is told with its next turn, and what it was told with the last one, which may be asked again. */
export class Advice {
  #waiting: readonly string[] = [];
  #told: { readonly turn: number; readonly texts: readonly string[] } = { turn: -1, texts: [] };

  add(text: string): void {
    this.#waiting = [...this.#waiting, text].slice(-MOST_ADVICE);
  }

  /** What goes with a turn: it stays with it when it is asked again. */
  forTurn(turn: number): { readonly advice?: readonly string[] } {
    const before = this.#told.turn === turn ? this.#told.texts : [];
    const texts = [...before, ...this.#waiting];
    this.#waiting = [];
    this.#told = { turn, texts };
    return texts.length === 0 ? {} : { advice: texts };
  }
}
