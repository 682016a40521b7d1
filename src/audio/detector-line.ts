import { NARROW_RATE_HZ, WIDE_RATE_HZ } from './format.ts';
import { kaiserWindow, Resampler } from './resample.ts';

/**
 * Taps of the half-band filter on each side of its middle. Every second one is zero, so that an output takes 12 products. It is flat up to
 * 3,400 Hz and rejects 48 dB from 4,600 Hz on: what lies between is folded to where no detector looks.
 */
const REACH = 23;
const KAISER_BETA = 4.6;
/** Coefficients at 1, 3, 5, … samples from the middle, whose own is one half. */
const TAPS = halfBandTaps();

/**
 * A line as detectors hear it. Voice activity, echo detection and the classifier of answering machines are made for 8 kHz, and are given every
 * call's audio at that rate by this class; recogniser and recording never are. A wideband line is 1.4 ms late.
 */
export class DetectorLine {
  readonly #narrow: ((pcm: Int16Array) => Int16Array) | undefined;

  /** @param rateHz of the line */
  constructor(rateHz: number) {
    if (rateHz === NARROW_RATE_HZ) return;
    if (rateHz === WIDE_RATE_HZ) {
      const half = new HalfRate();
      this.#narrow = (pcm) => half.process(pcm);
      return;
    }
    const resampler = Resampler.forLine(rateHz, NARROW_RATE_HZ);
    this.#narrow = (pcm) => resampler.process(pcm);
  }

  /** @returns samples at 8 kHz, valid until the next call: the given ones where the line has that rate */
  process(pcm: Int16Array): Int16Array {
    return this.#narrow === undefined ? pcm : this.#narrow(pcm);
  }
}

/** Every second sample of a low-pass at a quarter of the rate, in memory that is used again. */
class HalfRate {
  /** The last inputs that later outputs need, and those that came. */
  #line = new Float64Array(2 * REACH);
  /** Inputs before the first output of the next message: 1 after an odd number of samples, else 0. */
  #skip = 0;
  #out = new Int16Array(0);

  process(pcm: Int16Array): Int16Array {
    const kept = 2 * REACH;
    if (this.#line.length < kept + pcm.length) {
      const larger = new Float64Array(kept + pcm.length);
      larger.set(this.#line.subarray(0, kept));
      this.#line = larger;
    }
    const line = this.#line;
    line.set(pcm, kept);
    const count = Math.ceil((pcm.length - this.#skip) / 2);
    if (this.#out.length !== count) this.#out = new Int16Array(Math.max(0, count));
    for (let index = 0; index < count; index += 1) {
      const middle = REACH + this.#skip + 2 * index;
      // Two sums let the processor overlap them.
      let [sum0, sum1] = [0.5 * (line[middle] ?? 0), 0];
      for (let tap = 0, reach = 1; tap < TAPS.length; tap += 2, reach += 4) {
        sum0 += (TAPS[tap] ?? 0) * ((line[middle - reach] ?? 0) + (line[middle + reach] ?? 0));
        sum1 += (TAPS[tap + 1] ?? 0) * ((line[middle - reach - 2] ?? 0) + (line[middle + reach + 2] ?? 0));
      }
      this.#out[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum0 + sum1)));
    }
    this.#skip = (this.#skip + pcm.length) % 2;
    line.copyWithin(0, pcm.length, pcm.length + kept);
    return this.#out;
  }
}

/** A windowed sinc at half the Nyquist frequency, with unit gain. */
function halfBandTaps(): Float64Array {
  const taps = Float64Array.from({ length: (REACH + 1) / 2 }, (_, index) => {
    const at = 2 * index + 1;
    return (Math.sin((Math.PI * at) / 2) / (Math.PI * at)) * kaiserWindow(at / (REACH + 1), KAISER_BETA);
  });
  const sum = 2 * taps.reduce((all, tap) => all + tap, 0);
  return taps.map((tap) => (tap * 0.5) / sum);
}
