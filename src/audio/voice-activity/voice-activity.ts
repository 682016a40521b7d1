import { FRAME_SAMPLES_8K } from '../format.ts';
import { rmsLevelDb } from '../level.ts';
import { bandPowers } from './band-powers.ts';
import { type FrameKind, NoiseFloor } from './noise-floor.ts';
import { PitchMeter } from './pitch-meter.ts';

export interface VoiceVerdict {
  /** Sound that is not the line's noise, and loud enough to be meant for the other end. */
  readonly voiced: boolean;
  readonly levelDb: number;
  /** Periodicity of a voiced frame: 0 for noise, clicks and breath, 1 for a steady vowel. */
  readonly speechLike: number;
}

/** Quieter frames are no voice, however quiet the line. */
const LEAST_LEVEL_DB = -52;
/** One of this many quiet frames in a row updates the noise floor. */
const QUIET_FRAMES = 4;
/** The likelihood required of a voice, on a steady line and at most. */
const LEAST_LIKELIHOOD = 0.5;
const MOST_LIKELIHOOD = 5;
/** On an unsteady line, the required likelihood is this many times that of the noise itself. */
const TIMES_TYPICAL = 12;
/** During certain speech, this share of the likelihood is enough. */
const GOING_ON_SHARE = 0.3;
const GOING_ON_FRAMES = 6;
/** A pitched frame of this likelihood is certainly speech; the noise is not learnt for some frames after it. */
const CERTAIN_LIKELIHOOD = 8;
const LEARN_AFTER_FRAMES = 25;
const PITCHED = 0.5;
/** Unpitched sound longer than speech can be (a drawn-out s is under 300 ms): an engine, a fan, rain. */
const DRONE_FRAMES = 25;

/** Loads a factory of detectors, one for each call; making and running a detector is synchronous. */
export async function loadVoiceActivity(): Promise<() => VoiceActivity> {
  return () => new VoiceActivity();
}

/** Voice activity of one 8 kHz line, 20 ms at a time: sound that stands out from the noise floor in any band. */
export class VoiceActivity {
  readonly #noise = new NoiseFloor();
  readonly #pitch = new PitchMeter();
  /** Frames since the last certain speech. */
  #sinceCertain = LEARN_AFTER_FRAMES + 1;
  /** Voiced frames in a row without pitch. */
  #unpitched = 0;
  /** Quiet frames in a row. The first one of a line updates the noise floor. */
  #quiet = QUIET_FRAMES - 1;
  #closed = false;
  /** Reused for every frame: there are fifty a second of every call. */
  readonly #verdict = { voiced: false, levelDb: Number.NaN, speechLike: Number.NaN };

  /** Level of the line's noise in the bands of a voice, in dBFS. */
  get noiseFloorDb(): number {
    return 10 * Math.log10(this.#noise.power / 32_768 ** 2);
  }

  /**
   * @param frame the next 160 samples of the line
   * @returns a verdict that is valid until the next frame
   * @throws RangeError for any other length, TypeError after `close`
   */
  process(frame: Int16Array): VoiceVerdict {
    if (frame.length !== FRAME_SAMPLES_8K) throw new RangeError(`a frame has ${FRAME_SAMPLES_8K} samples, not ${frame.length}`);
    if (this.#closed) throw new TypeError('this detector was closed');
    const verdict = this.#verdict;
    verdict.levelDb = rmsLevelDb(frame);
    const isLoud = verdict.levelDb >= LEAST_LEVEL_DB;
    const likelihood = isLoud ? this.#voiceLikelihood(frame) : 0;
    if (!isLoud) this.#learnQuiet(frame);
    verdict.voiced = likelihood > 0;
    verdict.speechLike = this.#pitch.measure(frame, verdict.voiced);
    const pitched = verdict.voiced && verdict.speechLike >= PITCHED;
    this.#unpitched = verdict.voiced && !pitched ? this.#unpitched + 1 : 0;
    this.#sinceCertain = pitched && likelihood >= CERTAIN_LIKELIHOOD ? 0 : this.#sinceCertain + 1;
    return verdict;
  }

  /** The likelihood of a voice; 0 when the frame does not stand out enough. */
  #voiceLikelihood(frame: Int16Array): number {
    this.#quiet = 0;
    const powers = bandPowers(frame);
    const likelihood = this.#noise.likelihood(powers);
    const onset = this.#onset;
    const goesOn = this.#sinceCertain <= GOING_ON_FRAMES;
    const enough = goesOn ? Math.max(LEAST_LIKELIHOOD, GOING_ON_SHARE * onset) : onset;
    this.#noise.update(powers, this.#kindOf(likelihood, onset));
    return likelihood >= enough ? likelihood : 0;
  }

  #learnQuiet(frame: Int16Array): void {
    this.#quiet += 1;
    if (this.#quiet % QUIET_FRAMES !== 0) return;
    const powers = bandPowers(frame);
    for (let times = 0; times < QUIET_FRAMES; times += 1) {
      const likelihood = this.#noise.likelihood(powers);
      this.#noise.update(powers, this.#kindOf(likelihood, this.#onset));
    }
  }

  /** The likelihood required at the start of speech. */
  get #onset(): number {
    return Math.min(MOST_LIKELIHOOD, Math.max(LEAST_LIKELIHOOD, TIMES_TYPICAL * this.#noise.typicalLikelihood));
  }

  #kindOf(likelihood: number, onset: number): FrameKind {
    if (this.#sinceCertain > LEARN_AFTER_FRAMES) {
      if (likelihood < MOST_LIKELIHOOD) this.#noise.learnTypical(likelihood);
      if (likelihood < onset) return 'noise';
    }
    return this.#unpitched > DRONE_FRAMES ? 'drone' : 'voice';
  }

  close(): void {
    this.#closed = true;
  }
}

/** Length of a frame of the detector. */
export const activityFrameMs = 20;

const floorStartDb = -60;
/** Lower bound of the floor, reached in digital silence. */
const floorLeastDb = -70;
/** Rise of the floor on a line that got louder: slow compared with a syllable, fast compared with a call. */
const floorRiseDbPerFrame = 0.04;
const aboveFloorDb = 9;
/** Quieter frames are no speech, whatever the floor. */
const quietestSpeechDb = -52;
/** Loud frames of the last five needed for speech: 60 ms, longer than a click. */
const loudOfFive = 3;

/** Detects speech by energy above an adaptive noise floor. State of one audio stream. */
export class SpeechActivity {
  #floorDb = floorStartDb;
  /** One bit per frame, the latest lowest. */
  #recent = 0;

  /** @param pcm 20 ms of samples. @returns whether there is speech at its end */
  frame(pcm: Int16Array): boolean {
    const levelDb = rmsLevelDb(pcm);
    this.#floorDb =
      levelDb < this.#floorDb ? Math.max(floorLeastDb, levelDb) : Math.min(levelDb, this.#floorDb + floorRiseDbPerFrame);
    const loud = levelDb > Math.max(quietestSpeechDb, this.#floorDb + aboveFloorDb);
    this.#recent = ((this.#recent << 1) | (loud ? 1 : 0)) & 0b11111;
    return bitCount(this.#recent) >= loudOfFive;
  }
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest >>= 1) count += rest & 1;
  return count;
}
