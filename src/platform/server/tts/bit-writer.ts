/** Bits into bytes, the highest first. */
export class BitWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;
  #held = 0;
  #heldBits = 0;

  /** @param bits 0 to 24, the low ones of `value` */
  write(value: number, bits: number): void {
    // Never more than 31 bits at once: what a number's bit operations carry.
    this.#held = (this.#held << bits) | (value & ((1 << bits) - 1));
    this.#heldBits += bits;
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.#append((this.#held >>> this.#heldBits) & 0xff);
    }
    this.#held &= (1 << this.#heldBits) - 1;
  }

  /** So many zeros, then a one. */
  writeUnary(zeros: number): void {
    for (let rest = zeros; rest > 0; rest -= 16) this.write(0, Math.min(16, rest));
    this.write(1, 1);
  }

  /** Fills the last byte with zeros. @returns the bytes so far; a view that the next write may change */
  align(): Uint8Array {
    if (this.#heldBits > 0) this.write(0, 8 - this.#heldBits);
    return this.#bytes.subarray(0, this.#length);
  }

  #append(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }
}
