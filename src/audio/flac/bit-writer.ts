/** Writes numbers of any width, highest bit first, into a buffer of fixed size. */
export class BitWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** The last bits, fewer than 8, which do not fill a byte yet. */
  #pending = 0;
  #pendingBits = 0;

  /** @param maxBytes writing more throws RangeError */
  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  /** @param value its lowest `bits` are written, two's complement. @param bits 0 to 32 */
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
      if (this.#length === this.#bytes.length) throw new RangeError('the buffer of the bit writer is full');
      this.#bytes[this.#length++] = this.#pending >>> this.#pendingBits;
    }
    this.#pending &= (1 << this.#pendingBits) - 1;
  }

  /** Writes this many zeros and a one. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left >= 24; left -= 24) this.write(0, 24);
    this.write(1, left + 1);
  }

  /** Fills the last byte with zeros. */
  align(): void {
    if (this.#pendingBits > 0) this.write(0, 8 - this.#pendingBits);
  }

  /** The whole bytes so far: a view that is valid until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#pending = 0;
    this.#pendingBits = 0;
  }
}
