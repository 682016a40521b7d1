/** Writes numbers of any width, highest bit first, into a buffer that never grows: its owner knows the most that can come. */
export class BitWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** Fewer than 8 bits that make no byte yet. */
  #pending = 0;
  #pendingBits = 0;

  /** @param maxBytes more than this throws RangeError */
  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  /** @param value its lowest `bits` count; a negative one is written as two's complement. @param bits 0 to 32 */
  write(value: number, bits: number): void {
    if (bits > 24) {
      this.write(value >>> 16, bits - 16);
      this.write(value, 16);
      return;
    }
    this.#pending = (this.#pending << bits) | (value & ((1 << bits) - 1));
    this.#pendingBits += bits;
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8;
      if (this.#length === this.#bytes.length) throw new RangeError('more bits than were said to come');
      this.#bytes[this.#length++] = this.#pending >>> this.#pendingBits;
    }
    this.#pending &= (1 << this.#pendingBits) - 1;
  }

  /** So many zeros and a one. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left >= 24; left -= 24) this.write(0, 24);
    this.write(1, left + 1);
  }

  /** Fills the last byte up with zeros. */
  align(): void {
    if (this.#pendingBits > 0) this.write(0, 8 - this.#pendingBits);
  }

  /** Whole bytes so far: a view that holds until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#pending = 0;
    this.#pendingBits = 0;
  }
}
