/** Above the noise floor by this much is sound. */
const ABOVE_FLOOR = 10 ** (9 / 10);
/** Nothing quieter than this (summed band energy; about -58 dBFS) is sound, however quiet the line. */
const LEAST_ENERGY = 2e6;
/** The floor rises by this factor a frame (about 3 dB a second) and falls at once. */
const RISE = 1.011;
/** Of the last frames, so many must be sound for speech to start: a click is shorter. */
const START = { of: 7, need: 5 };
/** The floor starts here so that a line that begins with speech is heard at once (about -50 dBFS). */
const FIRST_FLOOR = 1.2e6;

/** Follows where there is sound, one frame energy at a time. */
export class SpeechSpan {
  #floor = FIRST_FLOOR;
  readonly #recent: boolean[] = [];
  /** Frames since speech started, or undefined before that. */
  firstFrame: number | undefined;
  /** The frame after the last one with sound. */
  endFrame = 0;
  /** Whether the last frame had sound. */
  sound = false;
  #frame = 0;

  /** @returns whether there has been speech since the last reset */
  add(energy: number): boolean {
    const sound = energy > LEAST_ENERGY && energy > this.#floor * ABOVE_FLOOR;
    this.#floor = Math.max(1, Math.min(this.#floor * RISE, sound ? this.#floor * RISE : (this.#floor * 7 + energy) / 8));
    this.sound = sound;
    this.#recent.push(sound);
    if (this.#recent.length > START.of) this.#recent.shift();
    this.#frame += 1;
    const enough = this.#recent.filter(Boolean).length >= START.need;
    if (this.firstFrame === undefined && enough) this.firstFrame = Math.max(0, this.#frame - START.of);
    if (this.firstFrame !== undefined && sound && enough) this.endFrame = this.#frame;
    return this.firstFrame !== undefined;
  }

  /** Frames since the last sound. */
  get silentFrames(): number {
    return this.#frame - this.endFrame;
  }

  /** Forgets speech, keeps the floor; `kept` frames before now stay countable. */
  reset(kept: number): void {
    this.firstFrame = undefined;
    this.endFrame = 0;
    this.#frame = kept;
    this.#recent.length = 0;
  }

  /** Frames dropped from the front of the utterance before speech. */
  dropped(frames: number): void {
    this.#frame -= frames;
  }
}
