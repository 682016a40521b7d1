import { LINE_BANDS } from './band-powers.ts';

/** A line is never taken for quieter than this mean square, nor, before it was heard, for louder than −38 dBFS. */
const LEAST_POWER = 8;
const MOST_FIRST_POWER = 32_768 ** 2 * 10 ** -3.8;
/** Share of the way to a frame's power that a floor goes: to frames of noise, and down to what is quieter in between. */
const PACE = 0.05;
const FALL = 0.1;
/** A frame counts as no more than this many times the floor, so that a click teaches little. */
const MOST_RISE = 4;
/** How fast floors rise under what is no voice but too loud to be the line as it was: 0.5 dB a frame. */
const DRONE_RISE = 10 ** 0.05;
/** What was never quieter for one to two of these spans (3 s) is the line's noise, whatever it sounds like. */
const SPAN_FRAMES = 150;
const SMOOTHING = 0.3;
/** How fast the usual likelihood is followed, by how much at most one frame counts, and the least that it is. */
const USUAL_PACE = 0.015;
const USUAL_MOST = 6;
const USUAL_LEAST = 0.02;
const USUAL_FIRST = 1;

/** Where in a line's memory each of these begins, with a number for every band, and where the usual likelihood is. */
const FLOOR = 0;
const SMOOTH = LINE_BANDS;
const LEAST = 2 * LINE_BANDS;
const LEAST_BEFORE = 3 * LINE_BANDS;
const USUAL = 4 * LINE_BANDS;

/**
 * What a frame does to a floor: the share of the way down that it goes to a quieter frame, and up to a louder one, which
 * counts as no more than so many times the floor.
 */
const LESSONS = {
  noise: { fall: PACE, rise: PACE, most: MOST_RISE },
  voice: { fall: FALL, rise: 0, most: 1 },
  drone: { fall: FALL, rise: 1, most: DRONE_RISE },
};

/** What a frame is to the noise: a part of it, something else for the moment, or a sound too long to be speech. */
export type Lesson = keyof typeof LESSONS;

/**
 * The noise of one line, band by band, and how much it varies. Says how unlike the noise a frame is: a voice stands out
 * in some bands although another is full of noise.
 */
export class LineNoise {
  /** In one piece: a process has many lines, and finds each one's out of the processor's caches. */
  readonly #line = new Float64Array(USUAL + 1).fill(Number.POSITIVE_INFINITY, LEAST, USUAL);
  #frames = 0;

  constructor() {
    this.#line[USUAL] = USUAL_FIRST;
  }

  /** The likelihood that the line's own noise usually has: near 0 for a steady hiss, more where people talk or cars pass. */
  get usual(): number {
    return this.#line[USUAL]!;
  }

  /** Mean square of the noise a bin, averaged over the bands. */
  get power(): number {
    let sum = 0;
    for (let band = 0; band < LINE_BANDS; band += 1) sum += this.#line[FLOOR + band]!;
    return sum / LINE_BANDS;
  }

  /**
   * The likelihood ratio of "there is something else" against "noise alone", for Gaussian bands whose signal is as likely
   * as can be: its logarithm, averaged over the bands. 0 where no band is above its floor; every band 6 dB above is 1.6.
   * @param powers of a frame, `LINE_BANDS` of them
   */
  likelihood(powers: Float64Array): number {
    if (this.#frames === 0) this.#begin(powers);
    let sum = 0;
    for (let band = 0; band < LINE_BANDS; band += 1) {
      const ratio = powers[band]! / this.#line[FLOOR + band]!;
      if (ratio > 1) sum += ratio - Math.log(ratio) - 1;
    }
    return sum / LINE_BANDS;
  }

  /** Learns the spread of the noise from a frame that may be a part of it. */
  learnUsual(likelihood: number): void {
    const { usual } = this;
    const taken = Math.min(likelihood, USUAL_MOST * usual);
    this.#line[USUAL] = Math.max(USUAL_LEAST, usual + USUAL_PACE * (taken - usual));
  }

  /** Follows the line by one frame, which `likelihood` was asked about before. */
  follow(powers: Float64Array, lesson: Lesson): void {
    this.#frames += 1;
    const line = this.#line;
    const { fall, rise, most } = LESSONS[lesson];
    const turn = this.#frames % SPAN_FRAMES === 0;
    for (let band = 0; band < LINE_BANDS; band += 1) {
      const power = powers[band]!;
      const smooth = line[SMOOTH + band]! + SMOOTHING * (power - line[SMOOTH + band]!);
      const least = Math.min(line[LEAST + band]!, smooth);
      const known = this.#frames > SPAN_FRAMES ? Math.min(least, line[LEAST_BEFORE + band]!) : 0;
      const floor = line[FLOOR + band]!;
      const toward = power < floor ? fall * (power - floor) : rise * (Math.min(power, most * floor) - floor);
      line[FLOOR + band] = Math.max(LEAST_POWER, known, floor + toward);
      line[SMOOTH + band] = smooth;
      line[LEAST + band] = turn ? smooth : least;
      if (turn) line[LEAST_BEFORE + band] = least;
    }
  }

  #begin(powers: Float64Array): void {
    for (let band = 0; band < LINE_BANDS; band += 1) {
      this.#line[SMOOTH + band] = powers[band]!;
      this.#line[FLOOR + band] = Math.max(LEAST_POWER, Math.min(MOST_FIRST_POWER, powers[band]!));
    }
  }
}
