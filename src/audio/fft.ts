/**
 * A complex Fourier transform in place, of one size; tables are made once, nothing is allocated by a transform. `toBins` and
 * `fromBins` spare the sorting of bins, for whoever only multiplies them or knows where each is.
 */
export class Fft {
  readonly size: number;
  /** Where `toBins` leaves each bin. */
  readonly places: Uint32Array;
  /** Of each stage `half`, the twiddles of its butterflies from index `half` on. */
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;

  /** @throws RangeError when the size is not a power of two of at least 2 */
  constructor(size: number) {
    if (size < 2 || !Number.isInteger(Math.log2(size))) throw new RangeError(`a transform's size is a power of two, not ${size}`);
    this.size = size;
    this.#cos = new Float64Array(size);
    this.#sin = new Float64Array(size);
    for (let half = 1; half < size; half *= 2) {
      for (let offset = 0; offset < half; offset += 1) {
        this.#cos[half + offset] = Math.cos((Math.PI * offset) / half);
        this.#sin[half + offset] = Math.sin((Math.PI * offset) / half);
      }
    }
    this.places = new Uint32Array(size);
    for (let index = 1; index < size; index += 1)
      this.places[index] = (this.places[index >> 1]! >> 1) | (index & 1 ? size >> 1 : 0);
  }

  /** @param re,im `size` numbers each, replaced by their transform, which is not scaled */
  forward(re: Float64Array, im: Float64Array): void {
    this.toBins(re, im);
    for (let index = 0; index < this.size; index += 1) {
      const other = this.places[index]!;
      if (other <= index) continue;
      const realPart = re[index]!;
      const imaginaryPart = im[index]!;
      re[index] = re[other]!;
      im[index] = im[other]!;
      re[other] = realPart;
      im[other] = imaginaryPart;
    }
  }

  /**
   * The same with the bins in bit-reversed order. Two stages at a time: half the way through memory, fewer products.
   * @param given how many numbers there are, if not `size`: whatever is behind them is taken for zeros
   */
  toBins(re: Float64Array, im: Float64Array, given = this.size): void {
    re.fill(0, given);
    im.fill(0, given);
    let half = this.size >> 1;
    for (; half >= 2; half >>= 2) this.#twoStages(re, im, half);
    if (half === 1) addAndSubtract(re, im, this.size);
  }

  #twoStages(re: Float64Array, im: Float64Array, half: number): void {
    const { size } = this;
    const cos = this.#cos;
    const sin = this.#sin;
    const quarter = half >> 1;
    for (let offset = 0; offset < quarter; offset += 1) {
      const cos1 = cos[half + offset]!;
      const sin1 = sin[half + offset]!;
      const cos2 = cos[quarter + offset]!;
      const sin2 = sin[quarter + offset]!;
      const cos3 = cos1 * cos2 - sin1 * sin2;
      const sin3 = cos1 * sin2 + sin1 * cos2;
      for (let at = offset; at < size; at += 2 * half) {
        const at1 = at + quarter;
        const at2 = at + half;
        const at3 = at2 + quarter;
        const sumRe = re[at]! + re[at2]!;
        const sumIm = im[at]! + im[at2]!;
        const differenceRe = re[at]! - re[at2]!;
        const differenceIm = im[at]! - im[at2]!;
        const otherSumRe = re[at1]! + re[at3]!;
        const otherSumIm = im[at1]! + im[at3]!;
        const otherRe = re[at1]! - re[at3]!;
        const otherIm = im[at1]! - im[at3]!;
        re[at] = sumRe + otherSumRe;
        im[at] = sumIm + otherSumIm;
        const aRe = sumRe - otherSumRe;
        const aIm = sumIm - otherSumIm;
        re[at1] = aRe * cos2 + aIm * sin2;
        im[at1] = aIm * cos2 - aRe * sin2;
        const bRe = differenceRe + otherIm;
        const bIm = differenceIm - otherRe;
        re[at2] = bRe * cos1 + bIm * sin1;
        im[at2] = bIm * cos1 - bRe * sin1;
        const cRe = differenceRe - otherIm;
        const cIm = differenceIm + otherRe;
        re[at3] = cRe * cos3 + cIm * sin3;
        im[at3] = cIm * cos3 - cRe * sin3;
      }
    }
  }

  /** Back from bins in bit-reversed order; `size` times what was transformed. */
  fromBins(re: Float64Array, im: Float64Array): void {
    const { size } = this;
    const cos = this.#cos;
    const sin = this.#sin;
    const isOdd = (31 - Math.clz32(size)) % 2 === 1;
    if (isOdd) addAndSubtract(re, im, size);
    for (let half = isOdd ? 4 : 2; half < size; half <<= 2) {
      const quarter = half >> 1;
      for (let offset = 0; offset < quarter; offset += 1) {
        const cos1 = cos[half + offset]!;
        const sin1 = sin[half + offset]!;
        const cos2 = cos[quarter + offset]!;
        const sin2 = sin[quarter + offset]!;
        const cos3 = cos1 * cos2 - sin1 * sin2;
        const sin3 = cos1 * sin2 + sin1 * cos2;
        for (let at = offset; at < size; at += 2 * half) {
          const at1 = at + quarter;
          const at2 = at + half;
          const at3 = at2 + quarter;
          const aRe = re[at1]! * cos2 - im[at1]! * sin2;
          const aIm = im[at1]! * cos2 + re[at1]! * sin2;
          const bRe = re[at2]! * cos1 - im[at2]! * sin1;
          const bIm = im[at2]! * cos1 + re[at2]! * sin1;
          const cRe = re[at3]! * cos3 - im[at3]! * sin3;
          const cIm = im[at3]! * cos3 + re[at3]! * sin3;
          const sumRe = re[at]! + aRe;
          const sumIm = im[at]! + aIm;
          const differenceRe = re[at]! - aRe;
          const differenceIm = im[at]! - aIm;
          const otherSumRe = bRe + cRe;
          const otherSumIm = bIm + cIm;
          const otherRe = bRe - cRe;
          const otherIm = bIm - cIm;
          re[at] = sumRe + otherSumRe;
          im[at] = sumIm + otherSumIm;
          re[at2] = sumRe - otherSumRe;
          im[at2] = sumIm - otherSumIm;
          re[at1] = differenceRe - otherIm;
          im[at1] = differenceIm + otherRe;
          re[at3] = differenceRe + otherIm;
          im[at3] = differenceIm - otherRe;
        }
      }
    }
  }
}

/** The stage of neighbours, alone where the number of stages is odd. */
function addAndSubtract(re: Float64Array, im: Float64Array, size: number): void {
  for (let at = 0; at < size; at += 2) {
    const realPart = re[at + 1]!;
    const imaginaryPart = im[at + 1]!;
    re[at + 1] = re[at]! - realPart;
    im[at + 1] = im[at]! - imaginaryPart;
    re[at]! += realPart;
    im[at]! += imaginaryPart;
  }
}
