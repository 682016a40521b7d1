import { seededRandom } from '../../audio/tone.ts';

/** Random numbers that a seed decides. */
export class SeededRandom {
  /** @returns from 0 up to, and without, 1 */
  readonly next: () => number;

  /** @param seed whole number @param salt sets runs with the same seed apart, such as a scenario's name */
  constructor(seed: number, salt: string) {
    let salted = seed >>> 0;
    for (const character of salt) salted = Math.imul(salted ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
    this.next = seededRandom(salted);
  }

  /** @throws RangeError for an empty list */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}
