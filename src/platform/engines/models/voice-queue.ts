import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import { Resampler } from '../../../audio/resample.ts';
import { SampleTape, joinSamples } from '../../../audio/samples.ts';
import { SpeechActivity, VoiceActivity } from '../../../audio/voice-activity/voice-activity.ts';

const FRAMES_A_SECOND = 50;
/** Periodicity of a frame with a vowel or another voiced sound. */
const PITCHED = 0.5;
/** Audio before a voice that passes with it: soft first sounds are not heard as a voice. */
const PRE_ROLL_S = 0.4;
/** Silence after a voice that passes with it. */
const CLOSES_AFTER_FRAMES = 20;
/** Frames looked at in one step, so that no step is long. */
const FRAMES_A_STEP = 25;
/** Audio of one stream that may wait. At 16 kHz 19 MB, and half of it for samples of a telephone line. */
const MOST_WAITING_S = 600;

/** What comes next in a stream. Positions are samples since the stream was opened. */
export type VoiceStep =
  /** Audio with a voice in or near it; it begins where the last one ended, or later where silence was left out. */
  | {
      readonly type: 'voice';
      readonly pcm: Int16Array;
      readonly from: number;
      readonly voiceEnd: number;
      readonly closes: boolean;
      /** Of this audio: seconds with a voice or noise, and seconds with pitch. */
      readonly voicedS: number;
      readonly pitchedS: number;
    }
  | { readonly type: 'silence' }
  | { readonly type: 'commit'; readonly at: number };

/**
 * The audio and the commits of one stream that wait for a model. Lets through what is near a voice, and leaves out the other silence:
 * a model is not asked about it.
 */
export class VoiceQueue {
  readonly #rateHz: number;
  readonly #frame: number;
  readonly #tape = new SampleTape();
  /** Two detectors: one hears voices in noise, the other whatever is louder than the line was. */
  readonly #activity = new VoiceActivity();
  readonly #level = new SpeechActivity();
  readonly #narrow: Resampler | undefined;
  #narrowRest: Int16Array = new Int16Array(0);
  readonly #commits: number[] = [];
  /** Samples before this one were looked at. */
  #at = 0;
  /** Samples before this one have passed, or belong to an earlier turn. */
  #passed = 0;
  #voiceEnd = 0;
  #open = false;
  #quietFrames = 0;
  /** Frames since the last audio passed. */
  #voicedFrames = 0;
  #pitchedFrames = 0;
  /** When the first sample came, had all come in real time: the queue's audio is due by this. */
  #originMs = Number.NEGATIVE_INFINITY;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#frame = Math.round(rateHz / FRAMES_A_SECOND);
    this.#narrow = rateHz === 8_000 ? undefined : new Resampler(rateHz, 8_000);
  }

  /** Samples are copied. @throws RangeError when more audio waits than a stream may have waiting */
  push(pcm: Int16Array, nowMs: number): void {
    const waitingS = (this.#tape.end + pcm.length - this.#at) / this.#rateHz;
    if (waitingS > MOST_WAITING_S) {
      throw new RangeError(`more than ${MOST_WAITING_S} s of audio wait to be recognised: send no faster than it is recognised`);
    }
    this.#originMs = Math.max(this.#originMs, nowMs - this.#ms(this.#tape.end));
    this.#tape.append(pcm);
  }

  commit(): void {
    this.#commits.push(this.#tape.end);
  }

  /**
   * When the next sample was due in real time. Audio that came faster than real time is due later than it came, so that a stream
   * that sends a file at once does not keep others waiting.
   */
  get dueMs(): number {
    return this.#originMs + this.#ms(this.#at);
  }

  /** Whether the turn that comes next was committed already. */
  get isCommitted(): boolean {
    return this.#commits.length > 0;
  }

  /** @returns undefined when nothing more can be said before more audio or a commit comes */
  next(): VoiceStep | undefined {
    if (this.#commits[0] === this.#at) return this.#endTurn(this.#at);
    let looked = 0;
    for (; looked < FRAMES_A_STEP; looked += 1) {
      const limit = this.#commits[0] ?? this.#tape.end;
      const count = Math.min(this.#frame, limit - this.#at);
      if (count === 0 || (count < this.#frame && !this.isCommitted)) break;
      if (this.#look(this.#tape.copy(this.#at, count))) return this.#pass(true);
    }
    if (looked === 0) return undefined;
    return this.#open ? this.#pass(false) : this.#leaveOut();
  }

  close(): void {
    this.#tape.close();
    this.#activity.close();
  }

  /** Looks at the next frame. @returns whether the gate closes after it */
  #look(frame: Int16Array): boolean {
    const voiced = this.#hears(frame);
    const start = this.#at;
    this.#at += frame.length;
    if (voiced) {
      this.#voicedFrames += 1;
      this.#voiceEnd = this.#at;
      this.#quietFrames = 0;
      if (!this.#open) this.#passed = Math.max(this.#passed, start - Math.round(PRE_ROLL_S * this.#rateHz));
      this.#open = true;
      return false;
    }
    this.#quietFrames += 1;
    return this.#open && this.#quietFrames >= CLOSES_AFTER_FRAMES;
  }

  #hears(frame: Int16Array): boolean {
    const narrow = this.#narrow?.process(frame) ?? frame;
    const samples = this.#narrowRest.length === 0 ? narrow : joinSamples([this.#narrowRest, narrow]);
    let voiced = this.#level.frame(frame);
    let at = 0;
    for (; at + FRAME_SAMPLES_8K <= samples.length; at += FRAME_SAMPLES_8K) {
      const verdict = this.#activity.process(samples.subarray(at, at + FRAME_SAMPLES_8K));
      if (!verdict.voiced) continue;
      voiced = true;
      if (verdict.speechLike >= PITCHED) this.#pitchedFrames += 1;
    }
    this.#narrowRest = samples.slice(at);
    return voiced;
  }

  #pass(closes: boolean): VoiceStep {
    const from = this.#passed;
    const pcm = this.#tape.copy(from, this.#at - from);
    this.#passed = this.#at;
    if (closes) this.#open = false;
    this.#forget();
    const voicedS = this.#voicedFrames / FRAMES_A_SECOND;
    const pitchedS = this.#pitchedFrames / FRAMES_A_SECOND;
    this.#voicedFrames = 0;
    this.#pitchedFrames = 0;
    return { type: 'voice', pcm, from, voiceEnd: this.#voiceEnd, closes, voicedS, pitchedS };
  }

  #leaveOut(): VoiceStep {
    this.#forget();
    return { type: 'silence' };
  }

  #endTurn(at: number): VoiceStep {
    this.#commits.shift();
    this.#open = false;
    this.#voicedFrames = 0;
    this.#pitchedFrames = 0;
    this.#passed = at;
    return { type: 'commit', at };
  }

  #forget(): void {
    this.#tape.forgetBefore(Math.max(0, this.#at - Math.round(PRE_ROLL_S * this.#rateHz)));
  }

  #ms(samples: number): number {
    return (samples / this.#rateHz) * 1_000;
  }
}
