import { BANDS } from './band-powers.ts';

/** Bounds of the floor, as mean squares: never below the first; before the first frame at most −38 dBFS. */
const LEAST_POWER = 8;
const MOST_FIRST_POWER = 32_768 ** 2 * 10 ** -3.8;
/** Smoothing of the floor towards a frame of noise, and towards a quieter frame during speech. */
const PACE = 0.05;
const FALL = 0.1;
/** A louder frame of noise counts as at most this many times the floor: a click moves it little. */
const MOST_RISE = 4;
/** Rise of the floor under a drone, a steady sound that is no voice: 0.5 dB a frame. */
const DRONE_RISE = 10 ** 0.05;
/** A power that was the minimum for one to two of these spans (3 s each) is noise, whatever it sounds like. */
const SPAN_FRAMES = 150;
const SMOOTHING = 0.3;
/** The typical likelihood: smoothing, the largest multiple of itself that one frame counts as, lower bound and first value. */
const TYPICAL_PACE = 0.015;
const TYPICAL_MOST = 6;
const TYPICAL_LEAST = 0.02;
const TYPICAL_FIRST = 1;

/** Offsets into the state: one number a band for each of these, and the typical likelihood at the end. */
const FLOOR = 0;
const SMOOTH = BANDS;
const LEAST = 2 * BANDS;
const LEAST_BEFORE = 3 * BANDS;
const TYPICAL = 4 * BANDS;

/**
 * How a frame moves the floor: the share of the way to a quieter frame (fall) and to a louder one (rise), which counts as at most
 * `most` times the floor.
 */
const UPDATES = {
  noise: { fall: PACE, rise: PACE, most: MOST_RISE },
  voice: { fall: FALL, rise: 0, most: 1 },
  drone: { fall: FALL, rise: 1, most: DRONE_RISE },
};

/** What a frame is taken for: noise, a passing sound such as a voice, or a steady sound too long to be speech. */
export type FrameKind = keyof typeof UPDATES;

/**
 * Tracks the noise floor of one line, band by band, and how much the noise varies. Per band, a voice stands out in some bands even where
 * another one is full of noise.
 */
export class NoiseFloor {
  /** One array, since a process follows many lines: fewer cache misses. */
  readonly #state = new Float64Array(TYPICAL + 1).fill(Number.POSITIVE_INFINITY, LEAST, TYPICAL);
  #frames = 0;

  constructor() {
    this.#state[TYPICAL] = TYPICAL_FIRST;
  }

  /** The likelihood that the line's own noise typically has: near 0 for a steady hiss, more where people talk or cars pass. */
  get typicalLikelihood(): number {
    return this.#state[TYPICAL] ?? 0;
  }

  /** Mean square of the noise per bin, averaged over the bands. */
  get power(): number {
    let sum = 0;
    for (let band = 0; band < BANDS; band += 1) sum += this.#state[FLOOR + band] ?? 0;
    return sum / BANDS;
  }

  /**
   * The log likelihood ratio of "signal and noise" against "noise alone", averaged over the bands: Gaussian bands, signal power at its
   * most likely. 0 where no band is above its floor; 1.6 with every band 6 dB above.
   * @param powers `BANDS` powers of a frame
   */
  likelihood(powers: Float64Array): number {
    if (this.#frames === 0) this.#begin(powers);
    const state = this.#state;
    let sum = 0;
    for (let band = 0; band < BANDS; band += 1) {
      const ratio = (powers[band] ?? 0) / (state[FLOOR + band] ?? 0);
      if (ratio > 1) sum += ratio - Math.log(ratio) - 1;
    }
    return sum / BANDS;
  }

  /** Updates the typical likelihood with that of a frame that may be noise. */
  learnTypical(likelihood: number): void {
    const typical = this.typicalLikelihood;
    const taken = Math.min(likelihood, TYPICAL_MOST * typical);
    this.#state[TYPICAL] = Math.max(TYPICAL_LEAST, typical + TYPICAL_PACE * (taken - typical));
  }

  /** Updates the floor with a frame, after `likelihood` was called for it. */
  update(powers: Float64Array, kind: FrameKind): void {
    this.#frames += 1;
    const state = this.#state;
    const { fall, rise, most } = UPDATES[kind];
    const isSpanOver = this.#frames % SPAN_FRAMES === 0;
    for (let band = 0; band < BANDS; band += 1) {
      const power = powers[band] ?? 0;
      const lastSmooth = state[SMOOTH + band] ?? 0;
      const smooth = lastSmooth + SMOOTHING * (power - lastSmooth);
      const least = Math.min(state[LEAST + band] ?? 0, smooth);
      const minimum = this.#frames > SPAN_FRAMES ? Math.min(least, state[LEAST_BEFORE + band] ?? 0) : 0;
      const floor = state[FLOOR + band] ?? 0;
      const toward = power < floor ? fall * (power - floor) : rise * (Math.min(power, most * floor) - floor);
      state[FLOOR + band] = Math.max(LEAST_POWER, minimum, floor + toward);
      state[SMOOTH + band] = smooth;
      state[LEAST + band] = isSpanOver ? smooth : least;
      if (isSpanOver) state[LEAST_BEFORE + band] = least;
    }
  }

  #begin(powers: Float64Array): void {
    for (const [band, power] of powers.entries()) {
      this.#state[SMOOTH + band] = power;
      this.#state[FLOOR + band] = Math.max(LEAST_POWER, Math.min(MOST_FIRST_POWER, power));
    }
  }
}
