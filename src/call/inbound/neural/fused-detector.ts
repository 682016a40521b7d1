import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import type { VoiceDetector } from '../inbound-audio.ts';
import type { FrameWriter } from './shared-frames.ts';
import type { Bot } from '../../../config/bots.ts';

export interface FusionRules {
  /** Below this likelihood of speech a frame is denied, from the other on it is confirmed; between them nothing changes. */
  readonly deniedBelow: number;
  readonly confirmedFrom: number;
  /** Denied frames in a row that take a sound back: one that nothing has confirmed, and one that was. */
  readonly newFrames: number;
  readonly confirmedFrames: number;
  /** How many frames before a sound the judge hears first, … */
  readonly leadInFrames: number;
  /** … and how many after it: what it knows of a noise should have no holes. */
  readonly listenOnFrames: number;
  /** An answer to a frame older than this counts for nothing. */
  readonly stalestFrames: number;
  /** Quiet after which another sound has begun; up to there the judge's voice goes on where the built-in detector lost it. */
  readonly gapFrames: number;
  /** That takes an answer to a frame as late as this, … */
  readonly latestFrames: number;
  /** … and so many frames of the sound that both took for a voice: a knock rings on in a judge's memory. */
  readonly agreedFrames: number;
}

export const FUSION: FusionRules = {
  deniedBelow: 0.3,
  confirmedFrom: 0.5,
  newFrames: 3,
  confirmedFrames: 8,
  leadInFrames: 10,
  listenOnFrames: 50,
  stalestFrames: 10,
  gapFrames: 10,
  latestFrames: 3,
  agreedFrames: 10,
};

/** A frame that the judge has not answered yet. */
interface Asked {
  readonly frame: number;
  /** What the built-in detector said of it. */
  readonly voiced: boolean;
}

/**
 * The built-in detector, which answers at once, beside a judge that knows speech better and answers some frames late. A sound
 * begins when the built-in detector says so, and is taken back when the judge denies it: a cough gives the floor back, and
 * noise that never falls silent counts as silence. A word's end that the built-in detector loses in the noise still counts as
 * voice, though not as evidence for an interruption. While the judge says nothing, the built-in detector is alone.
 */
export class FusedDetector implements VoiceDetector {
  readonly #builtIn: VoiceDetector;
  readonly #judge: FrameWriter;
  readonly #rules: FusionRules;
  /** The last frames, each in the place of its number. */
  readonly #recent: readonly Int16Array[];
  /** Number of the frame that comes next. */
  #next = 0;
  /** From this frame on the judge was given nothing. */
  #unheard = 0;
  readonly #asked: Asked[] = [];
  #soundedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #judgedSoundAt = Number.NEGATIVE_INFINITY;
  /** What the last answer said. */
  #speaks = false;
  /** Frames of the sound that both took for a voice. */
  #agreed = 0;
  #deniedInRow = 0;
  #confirmed = false;
  #denied = false;

  /** @param judge closed with the detector */
  constructor(builtIn: VoiceDetector, judge: FrameWriter, rules: FusionRules = FUSION) {
    this.#builtIn = builtIn;
    this.#judge = judge;
    this.#rules = rules;
    this.#recent = Array.from({ length: rules.leadInFrames + 1 }, () => new Int16Array(FRAME_SAMPLES_8K));
  }

  process(frame: Int16Array): { readonly voiced: boolean; readonly speechLike: number } {
    const verdict = this.#builtIn.process(frame);
    const number = this.#next;
    this.#next += 1;
    this.#at(number).set(frame);
    if (verdict.voiced) this.#soundedAt = number;
    if (number - this.#soundedAt <= this.#rules.listenOnFrames) this.#ask(number, verdict.voiced);
    else this.#denied = false;
    for (let answer = this.#judge.read(); answer !== undefined; answer = this.#judge.read()) this.#take(answer);
    const { stalestFrames, gapFrames, latestFrames, agreedFrames } = this.#rules;
    const ageFrames = number - this.#answeredAt;
    if (this.#denied && ageFrames <= stalestFrames) return { voiced: false, speechLike: 0 };
    const speaks = this.#speaks && this.#agreed >= agreedFrames && ageFrames <= latestFrames;
    const goesOn = speaks && number - this.#soundedAt <= gapFrames;
    return goesOn && !verdict.voiced ? { voiced: true, speechLike: 0 } : verdict;
  }

  close(): void {
    this.#judge.close();
    this.#builtIn.close();
  }

  /** Gives the judge this frame, and what it has not heard of the ones before. */
  #ask(number: number, voiced: boolean): void {
    for (let frame = Math.max(this.#unheard, number - this.#rules.leadInFrames); frame <= number; frame += 1) {
      if (!this.#judge.write(this.#at(frame))) break;
      this.#asked.push({ frame, voiced: voiced && frame === number });
    }
    // What could not be given is not made up for: late answers help nobody.
    this.#unheard = number + 1;
  }

  #take(likelihood: number | 'none'): void {
    const asked = this.#asked.shift();
    if (asked === undefined || likelihood === 'none') return;
    const { deniedBelow, confirmedFrom, newFrames, confirmedFrames, gapFrames } = this.#rules;
    this.#answeredAt = asked.frame;
    if (asked.voiced) {
      if (asked.frame - this.#judgedSoundAt > gapFrames) {
        this.#confirmed = false;
        this.#deniedInRow = 0;
        this.#agreed = 0;
      }
      this.#judgedSoundAt = asked.frame;
    }
    this.#speaks = likelihood >= confirmedFrom;
    if (this.#speaks && asked.voiced) this.#agreed += 1;
    if (this.#speaks) {
      this.#confirmed = true;
      this.#denied = false;
      this.#deniedInRow = 0;
    } else if (likelihood < deniedBelow && asked.voiced) {
      this.#deniedInRow += 1;
      if (this.#deniedInRow >= (this.#confirmed ? confirmedFrames : newFrames)) this.#denied = true;
    }
  }

  #at(frame: number): Int16Array {
    return this.#recent[frame % this.#recent.length]!;
  }
}

export interface DetectorParts {
  readonly createDetector: () => VoiceDetector;
  /** Tells speech from other sound, for bots that ask for it; a line is undefined where none is to be had. */
  readonly speechJudge?: { open(): FrameWriter | undefined } | undefined;
}

/** The voice detector of one call. */
export function detectorOf({ detector }: Pick<Bot, 'detector'>, { createDetector, speechJudge }: DetectorParts): VoiceDetector {
  const builtIn = createDetector();
  const line = detector === 'neural' ? speechJudge?.open() : undefined;
  return line === undefined ? builtIn : new FusedDetector(builtIn, line);
}
