/** Counts media sockets that have not started, by address, so that one address cannot hold many open. */
export class PendingSockets {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  isFull(address: string): boolean {
    return (this.#counts.get(address) ?? 0) >= this.#limit;
  }

  /** @returns gives the place back; further calls of it do nothing */
  enter(address: string): () => void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(address) ?? 1) - 1;
      if (left === 0) this.#counts.delete(address);
      else this.#counts.set(address, left);
    };
  }
}
