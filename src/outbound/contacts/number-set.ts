/** Numbers seen so far, with their lines. */
export class NumberSet {
  // An E.164 number has at most 15 digits, which a double holds exactly; 0 marks a free slot.
  #numbers = new Float64Array(1024);
  #lines = new Uint32Array(1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Memory in use: 24 to 48 bytes a number, outside the garbage-collected heap. */
  get bytes(): number {
    return this.#numbers.byteLength + this.#lines.byteLength;
  }

  /**
   * Adds a number.
   * @param e164 `+` and at most 15 digits
   * @returns the line on which it was seen first; undefined if it is new
   */
  add(e164: string, line: number): number | undefined {
    const digits = Number(e164.slice(1));
    if (!/^\+[1-9]\d{1,14}$/u.test(e164)) throw new RangeError('not a number in E.164 form');
    const slot = this.#slotOf(digits);
    if (this.#numbers[slot] === digits) return this.#lines[slot];
    this.#numbers[slot] = digits;
    this.#lines[slot] = line;
    this.#size += 1;
    // Above half full, runs of taken slots grow long.
    if (this.#size * 2 > this.#numbers.length) this.#grow();
    return undefined;
  }

  /** Slot of a number, existing or free. */
  #slotOf(digits: number): number {
    const numbers = this.#numbers;
    const mask = numbers.length - 1;
    // Fibonacci hashing of both halves: numbers of a list often differ in their last digits only.
    const low = Math.imul((digits % 4_294_967_296) | 0, 0x9e3779b1);
    const high = Math.imul(Math.floor(digits / 4_294_967_296), 0x85ebca6b);
    const mixed = low ^ high;
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    while (numbers[slot] !== 0 && numbers[slot] !== digits) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const numbers = this.#numbers;
    const lines = this.#lines;
    this.#numbers = new Float64Array(numbers.length * 2);
    this.#lines = new Uint32Array(lines.length * 2);
    for (const [index, digits] of numbers.entries()) {
      if (digits === 0) continue;
      const slot = this.#slotOf(digits);
      this.#numbers[slot] = digits;
      this.#lines[slot] = lines[index] ?? 0;
    }
  }
}
