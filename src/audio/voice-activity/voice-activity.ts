import { FRAME_SAMPLES_8K } from '../format.ts';
import { rmsLevelDb } from '../level.ts';
import { lineBandPowers } from './band-powers.ts';
import { type Lesson, LineNoise } from './noise-floor.ts';
import { PitchMeter } from './pitch-meter.ts';

export interface VoiceVerdict {
  /** Something that is not the line's noise, and loud enough to be meant for the other end. */
  readonly voiced: boolean;
  readonly levelDb: number;
  /** How pitched a voiced frame is: 0 for noise, clicks and breath, 1 for a steady vowel. */
  readonly speechLike: number;
}

/** Nothing quieter is a voice, however quiet the line; … */
const LEAST_LEVEL_DB = -52;
/** … of so many such frames in a row one is looked at for what the line's noise is, for all of them. */
const QUIET_FRAMES = 4;
/** The least likelihood of a voice on a steady line, and the most that is asked for on any. */
const LEAST_LIKELIHOOD = 0.5;
const MOST_LIKELIHOOD = 5;
/** On an unsteady line a voice is so many times as unlike the noise as the noise itself usually is. */
const TIMES_USUAL = 12;
/** While somebody certainly speaks, this share of it is enough. */
const GOING_ON_SHARE = 0.3;
const GOING_ON_FRAMES = 6;
/** Likelihood from which a pitched frame is certainly somebody who speaks; for a while after it nothing is learnt. */
const CERTAIN_LIKELIHOOD = 8;
const LEARN_AFTER_FRAMES = 25;
const PITCHED = 0.5;
/** Voiced and without pitch for longer than speech can be (a drawn-out s is under 300 ms): an engine, a fan, rain. */
const DRONE_FRAMES = 25;

/** Returns a maker of detectors, one for each call; making and running them is synchronous. */
export async function loadVoiceActivity(): Promise<() => VoiceActivity> {
  return () => new VoiceActivity();
}

/** Voice activity of one 8 kHz line, 20 ms at a time: what stands out, in any bands, from a noise that is followed in each. */
export class VoiceActivity {
  readonly #noise = new LineNoise();
  readonly #pitch = new PitchMeter();
  /** Frames since somebody certainly spoke; at first, as if that were long ago. */
  #sinceCertain = LEARN_AFTER_FRAMES + 1;
  /** Frames in a row that were voiced and had no pitch. */
  #unpitched = 0;
  /** Too quiet in a row for a voice; the first of a line is looked at. */
  #quiet = QUIET_FRAMES - 1;
  #closed = false;
  /** Of the frame that was judged last; made once, since there are fifty a second of every call. */
  readonly #verdict = { voiced: false, levelDb: Number.NaN, speechLike: Number.NaN };

  /** Level of the line's noise in the bands of a voice, in dBFS. */
  get noiseFloorDb(): number {
    return 10 * Math.log10(this.#noise.power / 32_768 ** 2);
  }

  /**
   * @param frame 160 samples, in the order of the line; not kept
   * @returns valid until the next frame
   * @throws RangeError for any other length, TypeError after `close`
   */
  process(frame: Int16Array): VoiceVerdict {
    if (frame.length !== FRAME_SAMPLES_8K) throw new RangeError(`a frame has ${FRAME_SAMPLES_8K} samples, not ${frame.length}`);
    if (this.#closed) throw new TypeError('this detector was closed');
    const verdict = this.#verdict;
    verdict.levelDb = rmsLevelDb(frame);
    const isLoud = verdict.levelDb >= LEAST_LEVEL_DB;
    const likelihood = isLoud ? this.#hear(frame) : 0;
    if (!isLoud) this.#learnQuiet(frame);
    verdict.voiced = likelihood > 0;
    verdict.speechLike = this.#pitch.measure(frame, verdict.voiced);
    const pitched = verdict.voiced && verdict.speechLike >= PITCHED;
    this.#unpitched = verdict.voiced && !pitched ? this.#unpitched + 1 : 0;
    this.#sinceCertain = pitched && likelihood >= CERTAIN_LIKELIHOOD ? 0 : this.#sinceCertain + 1;
    return verdict;
  }

  /** @returns the likelihood of a voice, where the frame stands out enough for one; otherwise 0 */
  #hear(frame: Int16Array): number {
    this.#quiet = 0;
    const powers = lineBandPowers(frame);
    const likelihood = this.#noise.likelihood(powers);
    const onset = this.#onset;
    const goesOn = this.#sinceCertain <= GOING_ON_FRAMES;
    const enough = goesOn ? Math.max(LEAST_LIKELIHOOD, GOING_ON_SHARE * onset) : onset;
    this.#noise.follow(powers, this.#lesson(likelihood, onset));
    return likelihood >= enough ? likelihood : 0;
  }

  #learnQuiet(frame: Int16Array): void {
    this.#quiet += 1;
    if (this.#quiet % QUIET_FRAMES !== 0) return;
    const powers = lineBandPowers(frame);
    for (let times = 0; times < QUIET_FRAMES; times += 1) {
      const likelihood = this.#noise.likelihood(powers);
      this.#noise.follow(powers, this.#lesson(likelihood, this.#onset));
    }
  }

  /** The likelihood that is asked for before somebody speaks. */
  get #onset(): number {
    return Math.min(MOST_LIKELIHOOD, Math.max(LEAST_LIKELIHOOD, TIMES_USUAL * this.#noise.usual));
  }

  #lesson(likelihood: number, onset: number): Lesson {
    if (this.#sinceCertain > LEARN_AFTER_FRAMES) {
      if (likelihood < MOST_LIKELIHOOD) this.#noise.learnUsual(likelihood);
      if (likelihood < onset) return 'noise';
    }
    return this.#unpitched > DRONE_FRAMES ? 'drone' : 'voice';
  }

  close(): void {
    this.#closed = true;
  }
}
