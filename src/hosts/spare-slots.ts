/** Recognition slots beside those of calls: what one process may hold of each vendor. */
export class SpareSlots {
  #most: Readonly<Record<string, number>>;
  readonly #held = new Map<string, number>();

  constructor(most: Readonly<Record<string, number>>) {
    this.#most = most;
  }

  /** Those that are held stay so; where they are more than the new share, none is given until they are fewer. */
  share(most: Readonly<Record<string, number>>): void {
    this.#most = most;
  }

  /** @returns undefined when none is free; releasing one twice is harmless */
  take(vendor: string): { release(): void } | undefined {
    const held = this.#held.get(vendor) ?? 0;
    if (held >= (this.#most[vendor] ?? 0)) return undefined;
    this.#held.set(vendor, held + 1);
    let released = false;
    return {
      release: () => {
        if (!released) this.#held.set(vendor, (this.#held.get(vendor) ?? 0) - 1);
        released = true;
      },
    };
  }
}
