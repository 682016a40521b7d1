import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import type { VoiceDetector } from '../inbound-audio.ts';
import type { FrameWriter } from './shared-frames.ts';
import type { Bot } from '../../../config/bots.ts';

export interface FusionRules {
  /** Likelihood of speech below which a frame is denied, and from which it is confirmed; in between nothing changes. */
  readonly deniedBelow: number;
  readonly confirmedFrom: number;
  /** Denied frames in a row that withdraw a sound: an unconfirmed one, and a confirmed one. */
  readonly newFrames: number;
  readonly confirmedFrames: number;
  /** Frames before a sound that the judge also gets, … */
  readonly leadInFrames: number;
  /** … and frames after it, so that the judge hears a noise without gaps. */
  readonly listenOnFrames: number;
  /** An answer to an older frame is ignored. */
  readonly stalestFrames: number;
  /** Quiet after which a new sound begins; until then the judge keeps a voice that the built-in detector lost. */
  readonly gapFrames: number;
  /** Latest answer that may keep such a voice, … */
  readonly latestFrames: number;
  /** … and frames of the sound on which both detectors must have agreed: a knock lingers in the judge's memory. */
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

/** A frame without an answer from the judge yet. */
interface Asked {
  readonly frame: number;
  /** The built-in detector's verdict. */
  readonly voiced: boolean;
}

/**
 * Combines the built-in detector, which answers at once, with a better speech judge that answers some frames late. The built-in detector starts a
 * sound, and the judge's denial withdraws it: a cough gives the floor back, and constant noise counts as silence. The end of a word that the built-in
 * detector loses in noise still counts as voice, but not as evidence for an interruption. Without answers from the judge, the built-in detector
 * decides alone.
 */
export class FusedDetector implements VoiceDetector {
  readonly #builtIn: VoiceDetector;
  readonly #judge: FrameWriter;
  readonly #rules: FusionRules;
  /** The last frames, each at its number modulo the length. */
  readonly #recent: readonly Int16Array[];
  /** Number of the next frame. */
  #next = 0;
  /** First frame that the judge did not get. */
  #unheard = 0;
  readonly #asked: Asked[] = [];
  #soundedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #judgedSoundAt = Number.NEGATIVE_INFINITY;
  /** The judge's last verdict. */
  #speaks = false;
  /** Frames of the sound on which both detectors agreed. */
  #agreed = 0;
  #deniedInRow = 0;
  #confirmed = false;
  #denied = false;

  /** @param judge disposed with the detector */
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

  /** Sends the judge this frame, and earlier ones it has not had. */
  #ask(number: number, voiced: boolean): void {
    for (let frame = Math.max(this.#unheard, number - this.#rules.leadInFrames); frame <= number; frame += 1) {
      if (!this.#judge.write(this.#at(frame))) break;
      this.#asked.push({ frame, voiced: voiced && frame === number });
    }
    // Frames that did not fit are skipped: their answers would come too late.
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
  /** Speech judge for bots that ask for one; `open` returns undefined where none is available. */
  readonly speechJudge?: { open(): FrameWriter | undefined } | undefined;
}

/** Builds the voice detector of one call. */
export function detectorOf({ detector }: Pick<Bot, 'detector'>, { createDetector, speechJudge }: DetectorParts): VoiceDetector {
  const builtIn = createDetector();
  const line = detector === 'neural' ? speechJudge?.open() : undefined;
  return line === undefined ? builtIn : new FusedDetector(builtIn, line);
}
