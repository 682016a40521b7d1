import { Fft } from '../../../audio/fft.ts';

/** Samples of one analysis window: 32 ms. */
export const WINDOW_SAMPLES = 256;
/** First bins of the bands, and the end of the last: 125 Hz to 3.75 kHz, wider towards the top as hearing is. */
const EDGES = [4, 7, 10, 13, 17, 21, 26, 31, 37, 44, 52, 61, 71, 82, 94, 107, 120];
export const BANDS = EDGES.length - 1;

/** Band powers of two sounds from one transform. Shared by the process; holds no state between calls. */
export class BandPowers {
  readonly #fft = new Fft(WINDOW_SAMPLES);
  readonly #re = new Float64Array(WINDOW_SAMPLES);
  readonly #im = new Float64Array(WINDOW_SAMPLES);
  readonly #window: Float64Array;

  constructor() {
    // Scaled so that the bands of a sound add up to about its mean square.
    const scale = Math.sqrt(2 / (0.375 * WINDOW_SAMPLES * WINDOW_SAMPLES));
    this.#window = Float64Array.from(
      { length: WINDOW_SAMPLES },
      (_, index) => scale * (0.5 - 0.5 * Math.cos((2 * Math.PI * (index + 0.5)) / WINDOW_SAMPLES)),
    );
  }

  /** @param a,b `WINDOW_SAMPLES` samples each; @param powersA,powersB get `BANDS` mean squares each, from `at` on */
  measure(a: Int16Array, b: Int16Array, powersA: Float64Array, powersB: Float64Array, at = 0): void {
    const re = this.#re;
    const im = this.#im;
    for (let index = 0; index < WINDOW_SAMPLES; index += 1) {
      re[index] = a[index]! * this.#window[index]!;
      im[index] = b[index]! * this.#window[index]!;
    }
    this.#fft.forward(re, im);
    for (let band = 0; band < BANDS; band += 1) {
      let sumA = 0;
      let sumB = 0;
      for (let bin = EDGES[band]!; bin < EDGES[band + 1]!; bin += 1) {
        const mirror = WINDOW_SAMPLES - bin;
        const aRe = re[bin]! + re[mirror]!;
        const aIm = im[bin]! - im[mirror]!;
        const bRe = im[bin]! + im[mirror]!;
        const bIm = re[mirror]! - re[bin]!;
        sumA += aRe * aRe + aIm * aIm;
        sumB += bRe * bRe + bIm * bIm;
      }
      powersA[at + band] = sumA / 4;
      powersB[at + band] = sumB / 4;
    }
  }
}
