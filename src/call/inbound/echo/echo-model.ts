import { BANDS } from './band-powers.ts';

/** Share of a sound's power that the room carries into the next 20 ms. */
const TAIL = 0.4;
/** How much of what was learned is kept at each frame that teaches: a memory of two seconds of sound. */
const KEEP = 0.99;
/** A band teaches its gain when the bot's sound in it is louder than this mean square: about −66 dBFS. */
const LEAST_POWER = 300;
/** How fast the spread of the echo around its expectation is followed. */
const SPREAD_PACE = 0.02;
const FIRST_SPREAD = 0.25;
const MOST_DEVIATION = 2;
/** A band says something about the spread when it is no more than this below the loudest: 20 dB. */
const TELLING_SHARE = 0.01;
/** The margin of an echo that is always as expected, in nepers of power (3 dB), and what each unit of spread adds. */
const LEAST_MARGIN = 0.7;
const MARGIN_PER_SPREAD = 4;
/** 12 dB: more is never taken for the echo's own ups and downs. */
const MOST_MARGIN = 16;
/** What exceeds the margin counts from this share of the whole, times the margin: −22 dB for a clean echo, −13 for a rough one. */
const EXCESS_SHARE = 10 ** -2.5;
/** What exceeds it by no more than 3 dB may be what a loudspeaker or a room adds between the bands of a loud vowel. */
const NEARLY = 2;
/** Once a voice is likely, the margin is this part of itself, but 2 dB at least. */
const LAX_MARGIN = 0.2;
const LEAST_LAX_MARGIN = 1.6;
/** The line's noise is followed at this pace while no voice is heard, and by no more than 9 dB at once. */
const NOISE_PACE = 0.05;
const MOST_NOISE_RISE = 8;
const FIRST_NOISE = 5;
/** Weight of the gain over all bands in the gain of a band that is not learned yet, in frames. */
const PRIOR_FRAMES = 8;

/**
 * How loud the echo must be, in bands: the reference with the room's tail, times what the path loses in each band, with a
 * margin for how well that has held so far. Fed 20 ms at a time with what was played (at the echo's delay) and what the
 * line carried; powers are mean squares of 16-bit samples.
 */
export class EchoModel {
  /** Powers of the frame to be judged; written by the owner before `advance`. */
  readonly line = new Float64Array(BANDS);
  readonly reference = new Float64Array(BANDS);
  readonly #tail = new Float64Array(BANDS);
  readonly #played = new Float64Array(BANDS);
  readonly #expected = new Float64Array(BANDS);
  readonly #known = new Float64Array(BANDS);
  readonly #gain = new Float64Array(BANDS);
  readonly #heardSum = new Float64Array(BANDS);
  readonly #playedSum = new Float64Array(BANDS);
  readonly #noise = new Float64Array(BANDS).fill(FIRST_NOISE);
  /** Mean squared excess of telling bands over their expectation, in nepers. */
  #spread = FIRST_SPREAD;
  #margin = MOST_MARGIN;
  /** Power above the margin in the last judged frame, relative to what is allowed. */
  #excess = 0;

  /** Whether the frame judged last was not explained, but nearly so. */
  get nearlyExplained(): boolean {
    return this.#excess <= NEARLY;
  }

  /** Forgets the path, not the line's noise. */
  reset(): void {
    this.#tail.fill(0);
    this.#gain.fill(0);
    this.#heardSum.fill(0);
    this.#playedSum.fill(0);
    this.#spread = FIRST_SPREAD;
  }

  /** Takes in what `line` and `reference` hold now; call once a frame. */
  advance(): void {
    for (let band = 0; band < BANDS; band += 1) {
      this.#played[band] = this.reference[band]! + this.#tail[band]!;
      this.#tail[band] = TAIL * this.#played[band]!;
    }
  }

  /** Takes this frame for pure echo, and every band for as lossy as all of them. */
  start(): void {
    let heard = 0;
    let played = 0;
    for (let band = 0; band < BANDS; band += 1) {
      heard += Math.max(0, this.line[band]! - this.#noise[band]!);
      played += this.#played[band]!;
    }
    const weight = (PRIOR_FRAMES * played) / BANDS;
    for (let band = 0; band < BANDS; band += 1) {
      this.#playedSum[band] = weight;
      this.#heardSum[band] = played > 0 ? (weight * heard) / played : 0;
    }
    this.learn();
  }

  /** This frame's line was nothing but echo and noise. */
  learn(): void {
    for (let band = 0; band < BANDS; band += 1) {
      const played = this.#played[band]!;
      if (played < LEAST_POWER) continue;
      this.#heardSum[band] = KEEP * this.#heardSum[band]! + Math.max(0, this.line[band]! - this.#noise[band]!);
      this.#playedSum[band] = KEEP * this.#playedSum[band]! + played;
      this.#gain[band] = this.#heardSum[band]! / this.#playedSum[band]!;
    }
  }

  /** No voice was heard in this frame. */
  learnNoise(): void {
    for (let band = 0; band < BANDS; band += 1) {
      const noise = this.#noise[band]!;
      this.#noise[band] = noise + NOISE_PACE * (Math.min(this.line[band]!, MOST_NOISE_RISE * noise) - noise);
    }
  }

  /** An explained frame also tells how closely the echo keeps to what is expected of it. */
  learnSpread(): void {
    let loudest = 0;
    for (let band = 0; band < BANDS; band += 1) {
      const known = this.#gain[band]! * this.#played[band]! + this.#noise[band]!;
      this.#known[band] = known;
      if (known > loudest) loudest = known;
    }
    let deviation = 0;
    let telling = 0;
    for (let band = 0; band < BANDS; band += 1) {
      const known = this.#known[band]!;
      if (known < TELLING_SHARE * loudest) continue;
      telling += 1;
      if (this.line[band]! > known) deviation += Math.log(this.line[band]! / known) ** 2;
    }
    this.#spread += SPREAD_PACE * (Math.min(deviation / telling, MOST_DEVIATION) - this.#spread);
    this.#margin = Math.min(MOST_MARGIN, Math.exp(LEAST_MARGIN + MARGIN_PER_SPREAD * Math.sqrt(this.#spread)));
  }

  /** Whether echo and noise are all there is in this frame. @param lax a voice was heard just before */
  explains(lax: boolean): boolean {
    this.#expected.set(this.#played);
    return this.#explained(lax ? Math.max(LEAST_LAX_MARGIN, LAX_MARGIN * this.#margin) : this.#margin);
  }

  /** The same with the echo coming from another place of the reference: its powers there, now and 20 ms before. */
  explainsFrom(now: Float64Array, before: Float64Array): boolean {
    for (let band = 0; band < BANDS; band += 1) this.#expected[band] = now[band]! + TAIL * before[band]!;
    return this.#explained(this.#margin);
  }

  /** The same with each band as loud as at the loudest of three places. */
  explainsAround(earlier: Float64Array, later: Float64Array): boolean {
    for (let band = 0; band < BANDS; band += 1)
      this.#expected[band] = Math.max(this.#played[band]!, earlier[band]!, later[band]!);
    return this.#explained(this.#margin);
  }

  #explained(margin: number): boolean {
    let known = 0;
    let excess = 0;
    for (let band = 0; band < BANDS; band += 1) {
      const power = this.#gain[band]! * this.#expected[band]! + this.#noise[band]!;
      known += power;
      excess += Math.max(0, this.line[band]! - margin * power);
    }
    this.#excess = excess / (EXCESS_SHARE * this.#margin * known);
    return this.#excess <= 1;
  }
}
