/** A complex Fourier transform in place, of one size; tables are made once, nothing is allocated by a transform. */
export class Fft {
  readonly size: number;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #reversed: Uint32Array;

  /** @throws RangeError when the size is not a power of two of at least 2 */
  constructor(size: number) {
    if (size < 2 || !Number.isInteger(Math.log2(size))) throw new RangeError(`a transform's size is a power of two, not ${size}`);
    this.size = size;
    this.#cos = Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size));
    this.#sin = Float64Array.from({ length: size / 2 }, (_, k) => Math.sin((2 * Math.PI * k) / size));
    this.#reversed = new Uint32Array(size);
    for (let index = 1; index < size; index += 1)
      this.#reversed[index] = (this.#reversed[index >> 1]! >> 1) | (index & 1 ? size >> 1 : 0);
  }

  /** @param re,im `size` numbers each, replaced by their transform, which is not scaled */
  forward(re: Float64Array, im: Float64Array): void {
    const { size } = this;
    for (let index = 0; index < size; index += 1) {
      const other = this.#reversed[index]!;
      if (other <= index) continue;
      const realPart = re[index]!;
      const imaginaryPart = im[index]!;
      re[index] = re[other]!;
      im[index] = im[other]!;
      re[other] = realPart;
      im[other] = imaginaryPart;
    }
    for (let half = 1; half < size; half *= 2) {
      const step = size / (2 * half);
      for (let start = 0; start < size; start += 2 * half) {
        for (let offset = 0; offset < half; offset += 1) {
          const cos = this.#cos[offset * step]!;
          const sin = this.#sin[offset * step]!;
          const low = start + offset;
          const high = low + half;
          const highRe = re[high]! * cos + im[high]! * sin;
          const highIm = im[high]! * cos - re[high]! * sin;
          re[high] = re[low]! - highRe;
          im[high] = im[low]! - highIm;
          re[low]! += highRe;
          im[low]! += highIm;
        }
      }
    }
  }
}
