/**
 * A complex Fourier transform of one size, in place. Tables are made once; a transform allocates nothing. `toBins` and `fromBins`
 * leave out the sorting of bins, for callers that only multiply them or that look them up in `places`.
 */
export class Fft {
  readonly size: number;
  /** The place of each bin after `toBins`. */
  readonly places: Uint32Array;
  /** Twiddle factors: those of the stage with butterflies of `half` start at index `half`. */
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
      this.places[index] = ((this.places[index >> 1] ?? 0) >> 1) | (index & 1 ? size >> 1 : 0);
  }

  /** @param re,im `size` numbers each, replaced by their transform, which is not scaled */
  forward(re: Float64Array, im: Float64Array): void {
    this.toBins(re, im);
    for (const [index, other] of this.places.entries()) {
      if (other <= index) continue;
      const [realPart, imaginaryPart] = [re[index] ?? 0, im[index] ?? 0];
      re[index] = re[other] ?? 0;
      im[index] = im[other] ?? 0;
      re[other] = realPart;
      im[other] = imaginaryPart;
    }
  }

  /**
   * The same with the bins in bit-reversed order. Works on two stages at a time (radix 4): half the memory traffic, fewer products.
   * @param given how many input numbers there are; the rest up to `size` counts as zeros
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
    const quarter = half >> 1;
    for (let offset = 0; offset < quarter; offset += 1) {
      const cos1 = this.#cos[half + offset] ?? 0;
      const sin1 = this.#sin[half + offset] ?? 0;
      const cos2 = this.#cos[quarter + offset] ?? 0;
      const sin2 = this.#sin[quarter + offset] ?? 0;
      const cos3 = cos1 * cos2 - sin1 * sin2;
      const sin3 = cos1 * sin2 + sin1 * cos2;
      for (let at = offset; at < size; at += 2 * half) {
        const at1 = at + quarter;
        const at2 = at + half;
        const at3 = at2 + quarter;
        const re0 = re[at] ?? 0;
        const im0 = im[at] ?? 0;
        const re1 = re[at1] ?? 0;
        const im1 = im[at1] ?? 0;
        const re2 = re[at2] ?? 0;
        const im2 = im[at2] ?? 0;
        const re3 = re[at3] ?? 0;
        const im3 = im[at3] ?? 0;
        const sumRe = re0 + re2;
        const sumIm = im0 + im2;
        const differenceRe = re0 - re2;
        const differenceIm = im0 - im2;
        const otherSumRe = re1 + re3;
        const otherSumIm = im1 + im3;
        const otherRe = re1 - re3;
        const otherIm = im1 - im3;
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

  /** The inverse, from bins in bit-reversed order; the result is `size` times the input of `toBins`. */
  fromBins(re: Float64Array, im: Float64Array): void {
    const { size } = this;
    const isOdd = (31 - Math.clz32(size)) % 2 === 1;
    if (isOdd) addAndSubtract(re, im, size);
    for (let half = isOdd ? 4 : 2; half < size; half <<= 2) {
      const quarter = half >> 1;
      for (let offset = 0; offset < quarter; offset += 1) {
        const cos1 = this.#cos[half + offset] ?? 0;
        const sin1 = this.#sin[half + offset] ?? 0;
        const cos2 = this.#cos[quarter + offset] ?? 0;
        const sin2 = this.#sin[quarter + offset] ?? 0;
        const cos3 = cos1 * cos2 - sin1 * sin2;
        const sin3 = cos1 * sin2 + sin1 * cos2;
        for (let at = offset; at < size; at += 2 * half) {
          const at1 = at + quarter;
          const at2 = at + half;
          const at3 = at2 + quarter;
          const re0 = re[at] ?? 0;
          const im0 = im[at] ?? 0;
          const re1 = re[at1] ?? 0;
          const im1 = im[at1] ?? 0;
          const re2 = re[at2] ?? 0;
          const im2 = im[at2] ?? 0;
          const re3 = re[at3] ?? 0;
          const im3 = im[at3] ?? 0;
          const aRe = re1 * cos2 - im1 * sin2;
          const aIm = im1 * cos2 + re1 * sin2;
          const bRe = re2 * cos1 - im2 * sin1;
          const bIm = im2 * cos1 + re2 * sin1;
          const cRe = re3 * cos3 - im3 * sin3;
          const cIm = im3 * cos3 + re3 * sin3;
          const sumRe = re0 + aRe;
          const sumIm = im0 + aIm;
          const differenceRe = re0 - aRe;
          const differenceIm = im0 - aIm;
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

/** The stage of neighbouring numbers, done alone where the number of stages is odd. */
function addAndSubtract(re: Float64Array, im: Float64Array, size: number): void {
  for (let at = 0; at < size; at += 2) {
    const re0 = re[at] ?? 0;
    const im0 = im[at] ?? 0;
    const re1 = re[at + 1] ?? 0;
    const im1 = im[at + 1] ?? 0;
    re[at] = re0 + re1;
    im[at] = im0 + im1;
    re[at + 1] = re0 - re1;
    im[at + 1] = im0 - im1;
  }
}
