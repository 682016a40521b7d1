import { Fft } from '../fft.ts';
import { FRAME_SAMPLES_8K } from '../format.ts';

/** Samples of a transform, which takes them in pairs; a frame is the first of them, and the rest is silence. */
const TRANSFORM = 256;
const HALF = TRANSFORM / 2;
const PAIRS = FRAME_SAMPLES_8K / 2;
/** First bins of the bands, and the end of the last: 156 Hz to 3.6 kHz, wider towards the top as hearing is. */
const EDGES = [5, 8, 11, 14, 18, 23, 29, 36, 44, 54, 66, 80, 96, 116];
export const LINE_BANDS = EDGES.length - 1;
/** What fades in and out of a frame, in samples. Little at its end, so that what has only just begun counts. */
const FADE_IN = 40;
const FADE_OUT = 24;

// One of each for a process, in which nothing outlives a frame: code that knows where its memory is checks and loads less.
const fft = new Fft(HALF);
const re = new Float64Array(HALF);
const im = new Float64Array(HALF);
const squares = new Float64Array(HALF);
const powers = new Float64Array(LINE_BANDS);
const shape = windowOf();
/** Cosines and sines of the bins, which turn the transform of sample pairs into that of samples. */
const cosines = Float64Array.from({ length: HALF }, (_, bin) => Math.cos((2 * Math.PI * bin) / TRANSFORM));
const sines = Float64Array.from({ length: HALF }, (_, bin) => Math.sin((2 * Math.PI * bin) / TRANSFORM));

/**
 * The spectrum of one frame by bands.
 * @param frame 160 samples
 * @returns `LINE_BANDS` mean squares a bin, of 16-bit samples; valid until the next frame, of any line, is measured
 */
export function lineBandPowers(frame: Int16Array): Float64Array {
  for (let pair = 0; pair < PAIRS; pair += 1) {
    re[pair] = frame[2 * pair]! * shape[2 * pair]!;
    im[pair] = frame[2 * pair + 1]! * shape[2 * pair + 1]!;
  }
  fft.toBins(re, im, PAIRS);
  squareBins();
  let bin = EDGES[0]!;
  for (let band = 0; band < LINE_BANDS; band += 1) {
    const until = EDGES[band + 1]!;
    const bins = until - bin;
    let sum = 0;
    for (; bin < until; bin += 1) sum += squares[bin]!;
    powers[band] = sum / (4 * bins);
  }
  return powers;
}

/** A bin and its mirror are made of the same two numbers. */
function squareBins(): void {
  const { places } = fft;
  for (let bin = EDGES[0]!; bin <= HALF / 2; bin += 1) {
    const mirror = HALF - bin;
    const place = places[bin]!;
    const mirrorPlace = places[mirror]!;
    const evenRe = re[place]! + re[mirrorPlace]!;
    const evenIm = im[place]! - im[mirrorPlace]!;
    const oddRe = im[place]! + im[mirrorPlace]!;
    const oddIm = re[mirrorPlace]! - re[place]!;
    const real = evenRe + cosines[bin]! * oddRe + sines[bin]! * oddIm;
    const imaginary = evenIm + cosines[bin]! * oddIm - sines[bin]! * oddRe;
    squares[bin] = real * real + imaginary * imaginary;
    const mirrorReal = evenRe + cosines[mirror]! * oddRe - sines[mirror]! * oddIm;
    const mirrorImaginary = evenIm + cosines[mirror]! * oddIm + sines[mirror]! * oddRe;
    squares[mirror] = mirrorReal * mirrorReal + mirrorImaginary * mirrorImaginary;
  }
}

/** Scaled so that white noise has its mean square in every band. */
function windowOf(): Float64Array {
  const faded = Float64Array.from({ length: FRAME_SAMPLES_8K }, (_, at) => fade(at + 0.5));
  const power = faded.reduce((sum, share) => sum + share * share, 0);
  return faded.map((share) => share / Math.sqrt(power));
}

function fade(at: number): number {
  const share = Math.min(1, at / FADE_IN, (FRAME_SAMPLES_8K - at) / FADE_OUT);
  return Math.sin((Math.PI / 2) * share) ** 2;
}
