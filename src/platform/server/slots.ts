/**
 * Requests running at once for each owner (an API key's id). One book a service (ASR and TTS docs, limits: 16 in the
 * default tier).
 */
export class Slots {
  readonly #limit: number;
  readonly #held = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns a function that gives the slot back, once; undefined when the owner holds as many as allowed */
  take(owner: string): (() => void) | undefined {
    const held = this.#held.get(owner) ?? 0;
    if (held >= this.#limit) return undefined;
    this.#held.set(owner, held + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#held.get(owner) ?? 1) - 1;
      if (left === 0) this.#held.delete(owner);
      else this.#held.set(owner, left);
    };
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }
}
