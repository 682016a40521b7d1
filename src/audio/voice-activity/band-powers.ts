import { Fft } from '../fft.ts';
import { FRAME_SAMPLES_8K } from '../format.ts';

/** Samples of a transform: a frame, zero-padded. A complex transform of half this size takes them in pairs. */
const TRANSFORM = 256;
const HALF = TRANSFORM / 2;
const PAIRS = FRAME_SAMPLES_8K / 2;
/** First bin of each band, and the end of the last: 156 Hz to 3.6 kHz, wider towards the top as in human hearing. */
const EDGES = [5, 8, 11, 14, 18, 23, 29, 36, 44, 54, 66, 80, 96, 116];
export const BANDS = EDGES.length - 1;
/** Fade-in and fade-out of the window, in samples. The fade-out is short, so that sound that has just begun counts. */
const FADE_IN = 40;
const FADE_OUT = 24;

// Working memory of the process, valid within one frame. Module constants are faster than fields: fewer checks and loads.
const fft = new Fft(HALF);
const re = new Float64Array(HALF);
const im = new Float64Array(HALF);
const squares = new Float64Array(HALF);
const powers = new Float64Array(BANDS);
const window = makeWindow();
/** Twiddle factors that turn the transform of sample pairs into that of the samples. */
const cosines = Float64Array.from({ length: HALF }, (_, bin) => Math.cos((2 * Math.PI * bin) / TRANSFORM));
const sines = Float64Array.from({ length: HALF }, (_, bin) => Math.sin((2 * Math.PI * bin) / TRANSFORM));

/**
 * The power of one frame in each band.
 * @param frame 160 samples
 * @returns `BANDS` mean squares per bin, of 16-bit samples; valid until the next call, whatever the line
 */
export function bandPowers(frame: Int16Array): Float64Array {
  for (let pair = 0; pair < PAIRS; pair += 1) {
    re[pair] = (frame[2 * pair] ?? 0) * (window[2 * pair] ?? 0);
    im[pair] = (frame[2 * pair + 1] ?? 0) * (window[2 * pair + 1] ?? 0);
  }
  fft.toBins(re, im, PAIRS);
  squareBins();
  for (let band = 0; band < BANDS; band += 1) {
    const from = EDGES[band] ?? 0;
    const to = EDGES[band + 1] ?? 0;
    let sum = 0;
    for (let bin = from; bin < to; bin += 1) sum += squares[bin] ?? 0;
    powers[band] = sum / (4 * (to - from));
  }
  return powers;
}

/** The power of every bin. A bin and its mirror follow from the same two numbers of the half-size transform. */
function squareBins(): void {
  const { places } = fft;
  for (let bin = EDGES[0] ?? 0; bin <= HALF / 2; bin += 1) {
    const mirror = HALF - bin;
    const place = places[bin] ?? 0;
    const mirrorPlace = places[mirror] ?? 0;
    const binRe = re[place] ?? 0;
    const binIm = im[place] ?? 0;
    const mirrorRe = re[mirrorPlace] ?? 0;
    const mirrorIm = im[mirrorPlace] ?? 0;
    const evenRe = binRe + mirrorRe;
    const evenIm = binIm - mirrorIm;
    const oddRe = binIm + mirrorIm;
    const oddIm = mirrorRe - binRe;
    const cos = cosines[bin] ?? 0;
    const sin = sines[bin] ?? 0;
    const real = evenRe + cos * oddRe + sin * oddIm;
    const imaginary = evenIm + cos * oddIm - sin * oddRe;
    squares[bin] = real * real + imaginary * imaginary;
    const mirrorCos = cosines[mirror] ?? 0;
    const mirrorSin = sines[mirror] ?? 0;
    const mirrorReal = evenRe + mirrorCos * oddRe - mirrorSin * oddIm;
    const mirrorImaginary = evenIm + mirrorCos * oddIm + mirrorSin * oddRe;
    squares[mirror] = mirrorReal * mirrorReal + mirrorImaginary * mirrorImaginary;
  }
}

/** The window, scaled so that white noise measures its mean square in every band. */
function makeWindow(): Float64Array {
  const faded = Float64Array.from({ length: FRAME_SAMPLES_8K }, (_, at) => fade(at + 0.5));
  const power = faded.reduce((sum, share) => sum + share * share, 0);
  return faded.map((share) => share / Math.sqrt(power));
}

function fade(at: number): number {
  const share = Math.min(1, at / FADE_IN, (FRAME_SAMPLES_8K - at) / FADE_OUT);
  return Math.sin((Math.PI / 2) * share) ** 2;
}
