/** Reads numbers of any width, highest bit first. @throws RangeError beyond the last byte */
export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #pending = 0;
  #pendingBits = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param bits 0 to 24 */
  read(bits: number): number {
    while (this.#pendingBits < bits) this.#fill();
    this.#pendingBits -= bits;
    const value = this.#pending >>> this.#pendingBits;
    this.#pending &= (1 << this.#pendingBits) - 1;
    return value;
  }

  /** In two's complement. @param bits 1 to 24 */
  readSigned(bits: number): number {
    const value = this.read(bits);
    return value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
  }

  /** How many zeros stand before the next one, which is read too. */
  unary(): number {
    let zeros = 0;
    while (this.#pending === 0) {
      zeros += this.#pendingBits;
      this.#pendingBits = 0;
      this.#fill();
    }
    const before = Math.clz32(this.#pending) - (32 - this.#pendingBits);
    this.#pendingBits -= before + 1;
    this.#pending &= (1 << this.#pendingBits) - 1;
    return zeros + before;
  }

  /** Passes over the rest of a byte that was begun. @returns bytes read so far */
  align(): number {
    this.#pendingBits -= this.#pendingBits % 8;
    this.#pending &= (1 << this.#pendingBits) - 1;
    return this.#at - this.#pendingBits / 8;
  }

  #fill(): void {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new RangeError('read beyond the last byte');
    this.#at += 1;
    this.#pending = (this.#pending << 8) | byte;
    this.#pendingBits += 8;
  }
}
