/** A tiny typed event source: listeners run synchronously, in the order they were added. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** @returns a function that removes the listener */
  on(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }
}
