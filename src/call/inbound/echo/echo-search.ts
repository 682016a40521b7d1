import { Fft } from '../../../audio/fft.ts';

/** Longest delay searched, in samples at 8 kHz: 1.5 s. */
export const MOST_LAG_SAMPLES = 12_000;
/** Samples of the caller's line that are compared: 80 ms. */
export const SEGMENT_SAMPLES = 640;
/** Length of reference that a search needs: the segment before the longest delay. */
export const HISTORY_SAMPLES = MOST_LAG_SAMPLES + SEGMENT_SAMPLES;

/** Flattens a voice's spectrum: unrelated voices are less alike then, and an echo remains one. */
const EMPHASIS = 0.95;
/** Reference samples in one transform, and the lags it covers. */
const BLOCK_SAMPLES = 4_096;
const BLOCK_PLACES = BLOCK_SAMPLES - SEGMENT_SAMPLES + 1;
/** Power below which a reference sample counts as silence. */
const QUIET_POWER = 400;

export interface EchoMatch {
  /** Samples from the reference's end to the place that is most like the segment. */
  lag: number;
  /** Normalised correlation there, 0 to 1. */
  likeness: number;
}

/**
 * Finds where in the played audio a piece of the caller's line comes from, sample by sample. Shared by the process: its buffers are large, and hold
 * nothing between searches.
 */
export class EchoSearch {
  readonly #fft = new Fft(BLOCK_SAMPLES);
  readonly #re = new Float64Array(BLOCK_SAMPLES);
  readonly #im = new Float64Array(BLOCK_SAMPLES);
  readonly #segmentRe = new Float64Array(BLOCK_SAMPLES);
  readonly #segmentIm = new Float64Array(BLOCK_SAMPLES);
  readonly #reference = new Float64Array(HISTORY_SAMPLES);
  /** How the segment correlates with the reference at each place of it. */
  readonly #products = new Float64Array(MOST_LAG_SAMPLES + 1);
  readonly #match: EchoMatch = { lag: 0, likeness: 0 };

  /**
   * @param segment the last `SEGMENT_SAMPLES` of the caller's line
   * @param history the last `HISTORY_SAMPLES` of the reference, up to the same moment
   * @returns the best match; valid until the next search
   */
  find(segment: Int16Array, history: Int16Array): EchoMatch {
    const sound = this.#segmentRe.fill(0);
    this.#segmentIm.fill(0);
    let segmentEnergy = 0;
    for (let index = 1; index < SEGMENT_SAMPLES; index += 1) {
      const sample = segment[index]! - EMPHASIS * segment[index - 1]!;
      sound[index] = sample;
      segmentEnergy += sample * sample;
    }
    const reference = this.#reference;
    for (let index = 1; index < HISTORY_SAMPLES; index += 1) reference[index] = history[index]! - EMPHASIS * history[index - 1]!;
    let energy = SEGMENT_SAMPLES * QUIET_POWER;
    for (let index = 0; index < SEGMENT_SAMPLES; index += 1) energy += reference[index]! * reference[index]!;
    this.#correlate();
    const match = this.#match;
    match.lag = 0;
    match.likeness = 0;
    let best = 0;
    for (let at = 0; at <= MOST_LAG_SAMPLES; at += 1) {
      const product = this.#products[at]!;
      const square = (product * product) / energy;
      if (square > best) {
        best = square;
        match.lag = MOST_LAG_SAMPLES - at;
      }
      const leaves = reference[at]!;
      const enters = at < MOST_LAG_SAMPLES ? reference[at + SEGMENT_SAMPLES]! : 0;
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
    const sound = this.#segmentRe;
    const played = this.#re;
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

  /** Two blocks at once: the segment is real, so one does not disturb the other's half. */
  #correlate(): void {
    const re = this.#re;
    const im = this.#im;
    const segmentRe = this.#segmentRe;
    const segmentIm = this.#segmentIm;
    this.#fft.toBins(segmentRe, segmentIm);
    for (let first = 0; first <= MOST_LAG_SAMPLES; first += 2 * BLOCK_PLACES) {
      this.#copyBlock(first, re);
      this.#copyBlock(first + BLOCK_PLACES, im);
      this.#fft.toBins(re, im);
      for (let bin = 0; bin < BLOCK_SAMPLES; bin += 1) {
        const blockRe = re[bin]! / BLOCK_SAMPLES;
        const blockIm = im[bin]! / BLOCK_SAMPLES;
        re[bin] = blockRe * segmentRe[bin]! + blockIm * segmentIm[bin]!;
        im[bin] = blockIm * segmentRe[bin]! - blockRe * segmentIm[bin]!;
      }
      this.#fft.fromBins(re, im);
      this.#takeProducts(re, first);
      this.#takeProducts(im, first + BLOCK_PLACES);
    }
  }

  #copyBlock(first: number, block: Float64Array): void {
    const piece = this.#reference.subarray(first, first + BLOCK_SAMPLES);
    block.set(piece);
    block.fill(0, piece.length);
  }

  #takeProducts(block: Float64Array, first: number): void {
    const count = Math.min(BLOCK_PLACES, this.#products.length - first);
    if (count > 0) this.#products.set(block.subarray(0, count), first);
  }
}
