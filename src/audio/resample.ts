/**
 * Filter taps on each side of an output sample, counted at the lower of the two rates: its delay as a line is 4 ms where that is
 * 8 kHz, and 2 ms where it is 16 kHz.
 */
const HALF_TAPS = 32;
/** 75 dB of rejection from the lower rate's Nyquist frequency on. */
const KAISER_BETA = 7.4;
/** The transition band of one tap a side, as a share of that frequency: with 32, the pass band is flat up to 0.85 of it (3,400 Hz at 8 kHz). */
const TRANSITION = 0.15 * HALF_TAPS;
/** Rates in use need 640 at the most. Odd ones, which files and clients may name, share these: 70 dB below a 1 kHz tone. */
const MOST_PHASES = 1024;
/** A filter may take megabytes; the one not used for longest is forgotten. */
const MOST_FILTERS = 16;

interface Filter {
  /** Output samples for every `down` input samples, in lowest terms. */
  readonly up: number;
  readonly down: number;
  /** Input samples on each side of an output position; even. */
  readonly reach: number;
  /** For each of the `up` phases, or of fewer that stand for them, 2 × reach coefficients. */
  readonly phases: readonly Float64Array[];
}

const filters = new Map<string, Filter>();

/**
 * A streaming polyphase resampler with a Kaiser-windowed low-pass. The filter's delay is made good: output sample 0
 * stands where input sample 0 stood, and `flush` gives what the last inputs still owe.
 */
export class Resampler {
  readonly #filter: Filter;
  /** The last inputs, which later outputs still need, in memory that is used again; position `#start` of the stream is its first. */
  #history: Float64Array;
  #held: number;
  #start: number;
  #received = 0;
  #produced = 0;
  /** Where the next output stands: `#at` whole inputs and `#offset` parts of `up`. */
  #at = 0;
  #offset = 0;

  /**
   * @param halfTaps more of them keep more of the highest frequencies, for more computing
   * @throws RangeError when a rate is not a whole number of 1,000 to 192,000 Hz
   */
  constructor(fromHz: number, toHz: number, halfTaps = HALF_TAPS) {
    for (const rate of [fromHz, toHz]) {
      if (!Number.isInteger(rate) || rate < 1_000 || rate > 192_000)
        throw new RangeError(`a sample rate must be 1000 to 192000 Hz, not ${rate}`);
    }
    this.#filter = filterFor(fromHz, toHz, halfTaps);
    this.#held = this.#filter.reach;
    this.#history = new Float64Array(this.#held);
    this.#start = -this.#filter.reach;
  }

  /**
   * One that is late by the reach of its filter, 4 ms at 8 kHz: a whole frame of input gives a whole frame of output at once, as a
   * line needs it.
   * @throws RangeError as the constructor
   */
  static forLine(fromHz: number, toHz: number): Resampler {
    const resampler = new Resampler(fromHz, toHz);
    resampler.process(new Int16Array(resampler.#filter.reach));
    return resampler;
  }

  /** @returns the outputs that these inputs complete, in memory of their own */
  process(pcm: Int16Array): Int16Array {
    this.#makeRoom(pcm.length);
    this.#history.set(pcm, this.#held);
    this.#held += pcm.length;
    this.#received += pcm.length;
    const ready = this.#received - this.#filter.reach;
    return this.#produce(Math.max(0, Math.ceil((ready * this.#filter.up) / this.#filter.down)));
  }

  /** @returns the rest; in all, round(inputs × to / from) outputs. The stream is over then. */
  flush(): Int16Array {
    const { up, down, reach } = this.#filter;
    const silence = reach + Math.ceil(down / up) + 1;
    this.#makeRoom(silence);
    this.#history.fill(0, this.#held, this.#held + silence);
    this.#held += silence;
    return this.#produce(Math.round((this.#received * up) / down));
  }

  #makeRoom(samples: number): void {
    if (this.#held + samples <= this.#history.length) return;
    const larger = new Float64Array(this.#held + samples);
    larger.set(this.#history.subarray(0, this.#held));
    this.#history = larger;
  }

  #produce(untilOutput: number): Int16Array {
    const { up, down, reach, phases } = this.#filter;
    const history = this.#history;
    const wholeStep = Math.floor(down / up);
    const partStep = down % up;
    const out = new Int16Array(Math.max(0, untilOutput - this.#produced));
    for (let index = 0; index < out.length; index += 1) {
      const phase = phases[phases.length === up ? this.#offset : Math.floor((this.#offset * phases.length) / up)]!;
      out[index] = Math.max(-32_768, Math.min(32_767, Math.round(filtered(phase, history, this.#at - reach + 1 - this.#start))));
      this.#at += wholeStep;
      this.#offset += partStep;
      if (this.#offset >= up) {
        this.#offset -= up;
        this.#at += 1;
      }
    }
    this.#produced += out.length;
    const over = Math.min(this.#at - reach - this.#start, this.#held);
    if (over > 0) {
      history.copyWithin(0, over, this.#held);
      this.#held -= over;
      this.#start += over;
    }
    return out;
  }
}

/** Four independent sums let the processor overlap them. @param phase a multiple of four coefficients */
function filtered(phase: Float64Array, history: Float64Array, first: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let tap = 0; tap < phase.length; tap += 4) {
    sum0 += phase[tap]! * history[first + tap]!;
    sum1 += phase[tap + 1]! * history[first + tap + 1]!;
    sum2 += phase[tap + 2]! * history[first + tap + 2]!;
    sum3 += phase[tap + 3]! * history[first + tap + 3]!;
  }
  return sum0 + sum1 + sum2 + sum3;
}

/** Resamples a whole buffer: round(length × to / from) samples, in place of the input's time line. */
export function resample(pcm: Int16Array, fromHz: number, toHz: number): Int16Array {
  if (fromHz === toHz) return Int16Array.from(pcm);
  const resampler = new Resampler(fromHz, toHz);
  const head = resampler.process(pcm);
  const tail = resampler.flush();
  const whole = new Int16Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function filterFor(fromHz: number, toHz: number, halfTaps: number): Filter {
  const key = `${fromHz}-${toHz}-${halfTaps}`;
  const filter = filters.get(key) ?? makeFilter(fromHz, toHz, halfTaps);
  filters.delete(key);
  filters.set(key, filter);
  const [oldest] = filters.keys();
  if (filters.size > MOST_FILTERS && oldest !== undefined) filters.delete(oldest);
  return filter;
}

function makeFilter(fromHz: number, toHz: number, halfTaps: number): Filter {
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const scale = Math.min(1, toHz / fromHz);
  const cutoff = 1 - TRANSITION / halfTaps / 2;
  const reach = 2 * Math.ceil(halfTaps / scale / 2);
  const count = Math.min(up, MOST_PHASES);
  // One that stands for others stands in their middle.
  const middle = count < up ? 0.5 : 0;
  const phases = Array.from({ length: count }, (_, phase) => {
    const taps = Float64Array.from({ length: 2 * reach }, (__, tap) => {
      const distance = tap - reach + 1 - (phase + middle) / count;
      return cutoff * scale * sinc(cutoff * scale * distance) * kaiserWindow(distance / reach, KAISER_BETA);
    });
    const gain = taps.reduce((sum, tap) => sum + tap, 0);
    return taps.map((tap) => tap / gain);
  });
  return { up, down, reach, phases };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** @param x place in the window: 0 is its middle, 1 and -1 are its ends @param beta the larger, the more is rejected, and the wider the transition */
export function kaiserWindow(x: number, beta: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel0(beta * Math.sqrt(1 - x * x)) / bessel0(beta);
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function bessel0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
