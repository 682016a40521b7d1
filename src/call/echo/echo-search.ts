import { Fft } from '../../audio/fft.ts';

/** Longest delay that is searched, in samples at 8 kHz: 1.5 s. */
export const MOST_LAG_SAMPLES = 12_000;
/** Samples of the caller's line that are compared: 80 ms. */
export const SEGMENT_SAMPLES = 640;
/** What must be given of the reference: the segment's length before the longest delay. */
export const HISTORY_SAMPLES = MOST_LAG_SAMPLES + SEGMENT_SAMPLES;

/** Flattens a voice's spectrum: unrelated voices are less alike then, and an echo remains one. */
const EMPHASIS = 0.95;
const SIZE = 16_384;
/** Power of a reference sample that counts for nothing, so that silence is like nothing. */
const QUIET_POWER = 400;

export interface EchoMatch {
  /** Samples from the reference's end to the place that is most like the segment. */
  lag: number;
  /** Normalised correlation there, 0 to 1. */
  likeness: number;
}

/**
 * Finds where in the audio that was played a piece of the caller's line comes from, sample by sample. One for a process:
 * its memory is large, and nothing is kept between searches.
 */
export class EchoSearch {
  readonly #fft = new Fft(SIZE);
  readonly #re = new Float64Array(SIZE);
  readonly #im = new Float64Array(SIZE);
  readonly #match: EchoMatch = { lag: 0, likeness: 0 };

  /**
   * @param segment the last `SEGMENT_SAMPLES` of the caller's line
   * @param history the last `HISTORY_SAMPLES` of the reference, up to the same moment
   * @returns the best match; valid until the next search
   */
  find(segment: Int16Array, history: Int16Array): EchoMatch {
    const re = this.#re.fill(0);
    const im = this.#im.fill(0);
    let segmentEnergy = 0;
    for (let index = 1; index < SEGMENT_SAMPLES; index += 1) {
      const sample = segment[index]! - EMPHASIS * segment[index - 1]!;
      re[index] = sample;
      segmentEnergy += sample * sample;
    }
    for (let index = 1; index < HISTORY_SAMPLES; index += 1) im[index] = history[index]! - EMPHASIS * history[index - 1]!;
    let energy = SEGMENT_SAMPLES * QUIET_POWER;
    for (let index = 0; index < SEGMENT_SAMPLES; index += 1) energy += im[index]! * im[index]!;
    this.#correlate();
    // The correlation is in `re`; `im` holds the reference still.
    const match = this.#match;
    match.lag = 0;
    match.likeness = 0;
    let best = 0;
    for (let at = 0; at <= MOST_LAG_SAMPLES; at += 1) {
      const product = re[at]!;
      const square = (product * product) / energy;
      if (square > best) {
        best = square;
        match.lag = MOST_LAG_SAMPLES - at;
      }
      const leaves = this.#reference[at]!;
      const enters = this.#reference[at + SEGMENT_SAMPLES] ?? 0;
      energy += enters * enters - leaves * leaves;
    }
    if (segmentEnergy > 0) match.likeness = Math.sqrt(best / (segmentEnergy + QUIET_POWER));
    return match;
  }

  /**
   * Searches near one lag only, with the last `length` samples of the segment: a shorter piece is enough there.
   * @returns the best match; valid until the next search
   */
  findNear(segment: Int16Array, history: Int16Array, lag: number, reach: number, length: number): EchoMatch {
    const match = this.#match;
    const start = SEGMENT_SAMPLES - length;
    const from = Math.max(0, lag - reach);
    const until = Math.min(MOST_LAG_SAMPLES, lag + reach);
    const sound = this.#re;
    const played = this.#im;
    let soundEnergy = QUIET_POWER;
    for (let index = 1; index < length; index += 1) {
      const sample = segment[start + index]! - EMPHASIS * segment[start + index - 1]!;
      sound[index] = sample;
      soundEnergy += sample * sample;
    }
    // The piece of the reference that all these lags need, oldest first.
    const first = MOST_LAG_SAMPLES + start - until;
    const count = until - from + length;
    for (let index = 1; index < count; index += 1)
      played[index] = history[first + index]! - EMPHASIS * history[first + index - 1]!;
    played[0] = 0;
    let energy = length * QUIET_POWER;
    for (let index = 1; index < length; index += 1) energy += played[index]! * played[index]!;
    let best = 0;
    match.lag = lag;
    for (let at = 0; at <= until - from; at += 1) {
      let product = 0;
      for (let index = 1; index < length; index += 1) product += sound[index]! * played[at + index]!;
      const square = (product * product) / energy;
      if (square > best) {
        best = square;
        match.lag = until - at;
      }
      const leaves = played[at + 1]!;
      const enters = played[at + length] ?? 0;
      energy += enters * enters - leaves * leaves;
    }
    match.likeness = Math.sqrt(best / soundEnergy);
    return match;
  }

  readonly #reference = new Float64Array(HISTORY_SAMPLES);

  /** Replaces segment and reference by their correlation at each place of the reference. */
  #correlate(): void {
    const re = this.#re;
    const im = this.#im;
    this.#reference.set(im.subarray(0, HISTORY_SAMPLES));
    this.#fft.forward(re, im);
    // Two real transforms in one: the segment's is the even part, the reference's the odd one.
    const half = SIZE / 2;
    for (let bin = 0; bin <= half; bin += 1) {
      const mirror = (SIZE - bin) % SIZE;
      const segmentRe = (re[bin]! + re[mirror]!) / 2;
      const segmentIm = (im[bin]! - im[mirror]!) / 2;
      const referenceRe = (im[bin]! + im[mirror]!) / 2;
      const referenceIm = (re[mirror]! - re[bin]!) / 2;
      const productRe = segmentRe * referenceRe + segmentIm * referenceIm;
      const productIm = segmentRe * referenceIm - segmentIm * referenceRe;
      // Conjugated, so that a second forward transform is the inverse; its result is real.
      re[bin] = productRe / SIZE;
      im[bin] = -productIm / SIZE;
      re[mirror] = productRe / SIZE;
      im[mirror] = productIm / SIZE;
    }
    this.#fft.forward(re, im);
  }
}
