import { FRAME_SAMPLES_8K } from '../format.ts';

const HALF_RATE_SAMPLES = FRAME_SAMPLES_8K / 2;
/** Lags of human pitch at 4 kHz, 400 to 62 Hz. Tried in groups; their number is a multiple of the group's size. */
const LEAST_LAG = 10;
const MOST_LAG = 64;
const LAGS_AT_ONCE = 5;

/** The search stops at a correlation this high. */
const SURELY = 0.9;

/** Index of the frame in `recent`: after the longest lag and one sample. */
const FROM = MOST_LAG + 1;

/** The samples compared, and the products of a group of lags: memory shared by all meters, valid within one measurement. */
const recent = new Float64Array(FROM + HALF_RATE_SAMPLES);
const products = new Float64Array(LAGS_AT_ONCE);

/** Measures how periodic a frame is: its best normalised autocorrelation in the range of human pitch. */
export class PitchMeter {
  /** The end of the last frame at 4 kHz. Pairs of samples are added, not averaged: whole numbers, so that no sum is rounded. */
  readonly #before = new Int32Array(MOST_LAG);

  measure(frame: Int16Array, wanted: boolean): number {
    const before = this.#before;
    const share = wanted ? periodicity(before, frame) : 0;
    const skipped = FRAME_SAMPLES_8K - 2 * MOST_LAG;
    for (let index = 0; index < MOST_LAG; index += 1) {
      const at = skipped + 2 * index;
      before[index] = (frame[at] ?? 0) + (frame[at + 1] ?? 0);
    }
    return share;
  }
}

function periodicity(before: Int32Array, frame: Int16Array): number {
  recent.set(before, 1);
  let energy = 0;
  for (let index = 0; index < HALF_RATE_SAMPLES; index += 1) {
    const sample = (frame[2 * index] ?? 0) + (frame[2 * index + 1] ?? 0);
    recent[FROM + index] = sample;
    energy += sample * sample;
  }
  if (energy === 0) return 0;
  let lagged = 0;
  for (let index = FROM - LEAST_LAG; index < recent.length - LEAST_LAG; index += 1)
    lagged += (recent[index] ?? 0) * (recent[index] ?? 0);
  let bestShare = 0;
  for (let lag = LEAST_LAG; lag <= MOST_LAG; lag += 1) {
    const among = (lag - LEAST_LAG) % LAGS_AT_ONCE;
    if (among === 0) multiply(lag);
    const product = products[among] ?? 0;
    if (product > 0 && product * product > bestShare * lagged) {
      bestShare = (product * product) / lagged;
      if (bestShare >= SURELY * SURELY * energy) break;
    }
    // The window of the next lag starts one sample earlier.
    const enters = recent[FROM - lag - 1] ?? 0;
    const leaves = recent[recent.length - lag - 1] ?? 0;
    lagged += enters * enters - leaves * leaves;
  }
  return Math.sqrt(bestShare / energy);
}

/** Products of the frame with itself `lag` to `lag` + 4 samples earlier; each sample is read once for all five. */
function multiply(lag: number): void {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let e = 0;
  let before1 = recent[FROM - lag - 1] ?? 0;
  let before2 = recent[FROM - lag - 2] ?? 0;
  let before3 = recent[FROM - lag - 3] ?? 0;
  let before4 = recent[FROM - lag - 4] ?? 0;
  for (let index = FROM; index < FROM + HALF_RATE_SAMPLES; index += 1) {
    const sample = recent[index] ?? 0;
    const before = recent[index - lag] ?? 0;
    a += sample * before;
    b += sample * before1;
    c += sample * before2;
    d += sample * before3;
    e += sample * before4;
    before4 = before3;
    before3 = before2;
    before2 = before1;
    before1 = before;
  }
  products[0] = a;
  products[1] = b;
  products[2] = c;
  products[3] = d;
  products[4] = e;
}
