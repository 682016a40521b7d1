/** Random numbers that a seed decides. */
export class SeededRandom {
  #state: number;

  /** @param seed whole number @param salt sets runs with the same seed apart, such as a scenario's name */
  constructor(seed: number, salt: string) {
    this.#state = seed >>> 0;
    for (const character of salt) this.#state = Math.imul(this.#state ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
  }

  /** @returns from 0 up to, and without, 1: mulberry32 */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** @throws RangeError for an empty list */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}
