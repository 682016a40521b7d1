import { Fft } from './fft.ts';
import { FRAME_SAMPLES_8K } from './format.ts';

const TRANSFORM = 256;
/** First bins of the bands, and the end of the last: 156 Hz to 3.6 kHz, wider towards the top as hearing is. */
const EDGES = [5, 8, 11, 14, 18, 23, 29, 36, 44, 54, 66, 80, 96, 116];
export const LINE_BANDS = EDGES.length - 1;
/** What fades in and out of a frame, in samples. Little at its end, so that what has only just begun counts. */
const FADE_IN = 40;
const FADE_OUT = 24;

/** The spectrum of one frame by bands. One for a process: nothing is kept between calls. */
export class LineBands {
  readonly #fft = new Fft(TRANSFORM / 2);
  readonly #re = new Float64Array(TRANSFORM / 2);
  readonly #im = new Float64Array(TRANSFORM / 2);
  readonly #window: Float64Array;
  /** Cosines and sines of the bins, which turn the transform of sample pairs into that of samples. */
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;

  constructor() {
    const shape = Float64Array.from({ length: FRAME_SAMPLES_8K }, (_, at) => fade(at + 0.5));
    const power = shape.reduce((sum, share) => sum + share * share, 0);
    // Scaled so that white noise has its mean square in every band.
    this.#window = shape.map((share) => share / Math.sqrt(power));
    const turn = (of: (angle: number) => number): Float64Array =>
      Float64Array.from({ length: TRANSFORM / 2 }, (_, bin) => of((2 * Math.PI * bin) / TRANSFORM));
    this.#cos = turn(Math.cos);
    this.#sin = turn(Math.sin);
  }

  /** @param frame 160 samples; @param powers gets `LINE_BANDS` mean squares a bin, of 16-bit samples */
  measure(frame: Int16Array, powers: Float64Array): void {
    const re = this.#re;
    const im = this.#im;
    const half = TRANSFORM / 2;
    for (let pair = 0; pair < FRAME_SAMPLES_8K / 2; pair += 1) {
      re[pair] = frame[2 * pair]! * this.#window[2 * pair]!;
      im[pair] = frame[2 * pair + 1]! * this.#window[2 * pair + 1]!;
    }
    re.fill(0, FRAME_SAMPLES_8K / 2);
    im.fill(0, FRAME_SAMPLES_8K / 2);
    this.#fft.forward(re, im);
    let bin = EDGES[0]!;
    for (let band = 0; band < LINE_BANDS; band += 1) {
      const until = EDGES[band + 1]!;
      const bins = until - bin;
      let sum = 0;
      for (; bin < until; bin += 1) {
        const mirror = half - bin;
        const evenRe = re[bin]! + re[mirror]!;
        const evenIm = im[bin]! - im[mirror]!;
        const oddRe = im[bin]! + im[mirror]!;
        const oddIm = re[mirror]! - re[bin]!;
        const cos = this.#cos[bin]!;
        const sin = this.#sin[bin]!;
        const real = evenRe + cos * oddRe + sin * oddIm;
        const imaginary = evenIm + cos * oddIm - sin * oddRe;
        sum += real * real + imaginary * imaginary;
      }
      powers[band] = sum / (4 * bins);
    }
  }
}

function fade(at: number): number {
  const share = Math.min(1, at / FADE_IN, (FRAME_SAMPLES_8K - at) / FADE_OUT);
  return Math.sin((Math.PI / 2) * share) ** 2;
}
