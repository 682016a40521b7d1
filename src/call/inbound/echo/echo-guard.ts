import { DetectorLine } from '../../../audio/detector-line.ts';
import { FRAME_SAMPLES_8K, NARROW_RATE_HZ } from '../../../audio/format.ts';
import { energyOf, rmsLevelDb } from '../../../audio/level.ts';
import { BandPowers, BANDS, WINDOW_SAMPLES } from './band-powers.ts';
import { EchoModel } from './echo-model.ts';
import { LineClock } from './line-clock.ts';
import { EchoSearch, HISTORY_SAMPLES, MOST_LAG_SAMPLES, SEGMENT_SAMPLES } from './echo-search.ts';
import { SpokenText } from './spoken-text.ts';

/** Scratch memory shared by a process's calls: half a megabyte, with nothing kept between frames. */
interface EchoWorkbench {
  readonly search: EchoSearch;
  readonly powers: BandPowers;
  readonly history: Int16Array;
  readonly window: Int16Array;
  readonly otherWindow: Int16Array;
  readonly powersHere: Float64Array;
  readonly powersThere: Float64Array;
  readonly budget: SearchBudget;
}

/** Searches a second for a first echo, over all calls of a process: a twentieth of a core. */
const SEARCHES_A_SECOND = 25;
const MOST_SAVED = 50;

/** Shares the process's search budget among its calls. */
class SearchBudget {
  #left = MOST_SAVED;
  #atMs = Number.NEGATIVE_INFINITY;

  /** Takes one search, if any is left. @param leaving searches that have to be left for others */
  take(nowMs: number, leaving = 0): boolean {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = nowMs;
    this.#left = Math.min(MOST_SAVED, this.#left + (passedMs / 1000) * SEARCHES_A_SECOND);
    if (this.#left < 1 + leaving) return false;
    this.#left -= 1;
    return true;
  }
}

let shared: EchoWorkbench | undefined;

function echoWorkbench(): EchoWorkbench {
  shared ??= {
    search: new EchoSearch(),
    powers: new BandPowers(),
    history: new Int16Array(HISTORY_SAMPLES),
    window: new Int16Array(WINDOW_SAMPLES),
    otherWindow: new Int16Array(WINDOW_SAMPLES),
    powersHere: new Float64Array(BANDS),
    powersThere: new Float64Array(BANDS),
    budget: new SearchBudget(),
  };
  return shared;
}

/** Likeness that counts as an echo while the call may still turn out to have one: two voices rarely reach it by chance. */
const ALIKE = 0.46;
/** The same on a line where the bot has not been heard back in all the time it could have been. */
const ALIKE_LATE = 0.65;
const QUIET_FRAMES = 125;
/** Likeness that counts as a new delay near the old one; less is enough where the bands agree. */
const ALIKE_NEAR = 0.6;
const ALIKE_SEEMS = 0.35;
/** A new delay must be this much more alike than the old one. */
const BETTER = 0.1;
/** Likeness that can only come from one place of the reference, or lead over this line's usual echo. */
const PURE = 0.95;
const LEAST_PURE = 0.75;
const PURER = 0.05;
const FIRST_USUAL = 0.9;
/** Tolerance for a slightly louder echo; with a voice in it, the likeness falls further. */
const ALIKE_AS_USUAL = 0.05;
const USUAL_PACE = 0.1;
/** Samples compared when a new delay is looked for near the old one (25 ms), and how far it is looked for (100 ms). */
const NEAR_SAMPLES = 200;
const NEAR_REACH = 800;
/** Nearer than this is the same delay: 3 ms. */
const SAME_REACH = 24;
/** Matches of about one delay (16 ms, a voice's period aside) that lock to it, within 2 s of one another. */
const MATCHES_TO_LOCK = 3;
/** From the first match to the one that locks: so far apart, they have no sample in common (80 ms). */
const FRAMES_TO_LOCK = 4;
const ABOUT_SAMPLES = 128;
const MATCH_MEMORY_FRAMES = 100;
/** Frames of echo after which the gains count as learned. */
const WARM_UP_FRAMES = 15;
/** Least likeness at a known delay; after this many misses the echo is dropped. */
const STILL_ALIKE = 0.35;
const MOST_DOUBTS = 3;
const MOST_LATER_DOUBTS = 8;
/** A search takes about 2 ms: a few at once, then one in this many frames. */
const MOST_SEARCHES = 8;
const FRAMES_PER_SEARCH = 12;
/** A line without echo halves its search rate after so many searches, repeatedly, down to this. */
const VAIN_SEARCHES = 8;
const MOST_HALVINGS = 5;
/** Clocks drift: the delay is measured again this often, this far around. */
const TRACK_EVERY_FRAMES = 25;
const TRACK_REACH = 40;
/** Frames after a voice over the echo in which another voice is likely. */
const LAX_FRAMES = 25;
/** Quiet after which a new sentence starts, and for how long its start is uncertain. */
const PAUSE_FRAMES = 8;
const ONSET_FRAMES = 8;
const QUIET_POWER = 2_000;
/** Frames since an echo was last found in which the line is assumed to have one. */
const RECENT_FRAMES = 150;
/** An echo too faint for the detector is searched for in one of this many frames; while none was found, half as often after each search. */
const FRAMES_PER_FAINT_SEARCH = 25;
const MOST_FAINT_HALVINGS = 6;
/** After so many vain searches in a row there is no faint echo any longer. */
const FAINT_DOUBTS = 6;
/** The search waits for a frame of this mean square (−63 dBFS): quieter ones are coded too coarsely to be compared. */
const FAINT_POWER = 500;
/** What is quieter is no caller's voice; the detector's own bound. */
const FAINT_LEVEL_DB = -52;
/** A caller's words go on for this long after a voiced frame: their quiet ends belong to them. */
const CALLER_FRAMES = 25;
/** The echo goes on for this long after a frame of it. */
const ECHO_FRAMES = 10;

/** The line in order, and its last part: scratch memory of all guards; holds nothing between frames. */
const line = new Int16Array(SEGMENT_SAMPLES);
const lineWindow = new Int16Array(WINDOW_SAMPLES);

/**
 * Tells the bot's echo from the caller's voice. It silences nothing: a frame is explained only when the audio that was sent, at this line's delay and
 * loss, accounts for all of it. On a line without echo no delay is ever locked, and frames pass unchanged.
 */
export class EchoGuard {
  readonly spoken = new SpokenText();
  readonly #bench = echoWorkbench();
  readonly #clock = new LineClock();
  /** What is sent, as the guard compares it. */
  readonly #sent: DetectorLine;
  readonly #model = new EchoModel();
  /** The last 80 ms of the caller's line: four frames, each of which takes the oldest one's place. */
  readonly #ring = new Int16Array(SEGMENT_SAMPLES);
  #frame = 0;
  #lag: number | undefined;
  #warmUp = 0;
  #searches = MOST_SEARCHES;
  /** Searches since one last confirmed another. */
  #vain = 0;
  #nowMs = 0;
  /** Frames without a voice while the bot could have been heard, before any echo was found. */
  #quiet = 0;
  #candidate = 0;
  #matches = 0;
  #firstMatchAt = 0;
  #doubts = 0;
  /** How alike a short piece of this line's echo is to its source. */
  #usual = FIRST_USUAL;
  #matchedAt = Number.NEGATIVE_INFINITY;
  #trackAt = 0;
  #pause = 0;
  #pauseAt = Number.NEGATIVE_INFINITY;
  #explainedAt = Number.NEGATIVE_INFINITY;
  #unexplainedAt = Number.NEGATIVE_INFINITY;
  #voiceAt = Number.NEGATIVE_INFINITY;
  /** Whether the bot was heard so recently that its echo may come now. */
  #mayEcho = false;
  /** Vain searches until a faint echo counts as gone; 0 on a line without one. */
  #faint = 0;
  #faintSearchAt = 0;
  #faintVain = 0;

  /** @param sentRateHz of what is sent; frames of the line are at the detectors' 8 kHz */
  constructor(sentRateHz = NARROW_RATE_HZ) {
    this.#sent = new DetectorLine(sentRateHz);
  }

  /** The echo's delay against the playout clock, while there is one. */
  get delayMs(): number | undefined {
    return this.#lag === undefined ? undefined : (this.#lag * 20) / FRAME_SAMPLES_8K;
  }

  /** Whether recognised words are the bot's echo: the bot said them, its echo is heard, and no other voice was for a while. */
  repeats(text: string, nowMs: number): boolean {
    const echoes = this.#frame - this.#explainedAt < RECENT_FRAMES;
    const alone = this.#frame - this.#voiceAt >= RECENT_FRAMES;
    return echoes && alone && this.spoken.contains(text, nowMs);
  }

  /**
   * Whether what comes next is the bot's echo alone, which a recogniser would make words of: this line has an echo, the bot may be heard
   * now, and no other voice was just before.
   * @param pcm the next piece of the caller's line, before its frames are judged
   */
  isEcho(pcm: Int16Array): boolean {
    const hasEcho = this.#lag !== undefined || this.#faint > 0;
    if (!hasEcho || !this.#mayEcho || this.#frame - this.#voiceAt < CALLER_FRAMES) return false;
    return this.#frame - this.#explainedAt < ECHO_FRAMES || rmsLevelDb(pcm) < FAINT_LEVEL_DB;
  }

  /** Audio went to the carrier. @param pcm at the rate of what is sent @param lateMs how much later marks come back than they should */
  sent(pcm: Int16Array, startMs: number, lateMs: number): void {
    this.#clock.sent(this.#sent.process(pcm), startMs, lateMs);
  }

  /** The carrier was told to drop what it had not played by `nowMs`. */
  cleared(nowMs: number): void {
    this.#clock.cleared(nowMs);
  }

  /** Caller audio arrives, before its frames are judged. @param samples at 8 kHz @param timestampMs the carrier's, or undefined to count samples */
  arrived(samples: number, timestampMs: number | undefined, nowMs: number): void {
    this.#nowMs = nowMs;
    if (!this.#clock.arrived(samples, timestampMs, nowMs)) this.#lag = undefined;
  }

  /**
   * Judges the next 20 ms of the line; every frame must be given, in order.
   * @param voiced whether the detector takes it for a voice
   * @returns whether it is voiced by the bot's echo alone
   */
  explains(frame: Int16Array, voiced: boolean): boolean {
    this.#frame += 1;
    this.#clock.framed();
    this.#ring.set(frame, ((this.#frame - 1) * FRAME_SAMPLES_8K) % SEGMENT_SAMPLES);
    const halvings = this.#lag === undefined ? Math.min(MOST_HALVINGS, Math.floor(this.#vain / VAIN_SEARCHES)) : 0;
    if (this.#searches < MOST_SEARCHES) this.#searches += 1 / (FRAMES_PER_SEARCH * 2 ** halvings);
    this.#mayEcho = this.#clock.soundedWithin(MOST_LAG_SAMPLES + 2 * SEGMENT_SAMPLES);
    if (this.#mayEcho && !voiced) this.#searchFaint(frame);
    const explained = this.#mayEcho && (this.#lag === undefined ? this.#unlocked(voiced) : this.#locked(this.#lag, voiced));
    if (explained) this.#explainedAt = this.#frame;
    else if (voiced) {
      if (this.#frame - this.#unexplainedAt <= 2) this.#voiceAt = this.#frame;
      this.#unexplainedAt = this.#frame;
    }
    return explained;
  }

  #searchFaint(frame: Int16Array): void {
    if (this.#frame < this.#faintSearchAt) return;
    const { search, history, budget } = this.#bench;
    if (energyOf(frame) < FAINT_POWER * FRAME_SAMPLES_8K || !budget.take(this.#nowMs, MOST_SAVED / 2)) return;
    this.#clock.copyBefore(0, history);
    const { likeness } = search.find(this.#copyLine(line), history);
    const isFound = likeness >= ALIKE;
    this.#faint = isFound ? FAINT_DOUBTS : Math.max(0, this.#faint - 1);
    this.#faintVain = this.#faint > 0 ? 0 : Math.min(MOST_FAINT_HALVINGS, this.#faintVain + 1);
    this.#faintSearchAt = this.#frame + FRAMES_PER_FAINT_SEARCH * 2 ** this.#faintVain;
  }

  #unlocked(voiced: boolean): boolean {
    if (!voiced) {
      this.#quiet += 1;
      return false;
    }
    const { search, history, budget } = this.#bench;
    // A delay found twice is checked a third time; anything else may be chance.
    const promising = this.#matches > 1 && this.#frame - this.#matchedAt < MATCH_MEMORY_FRAMES;
    if (this.#searches < 1 || (!promising && !budget.take(this.#nowMs))) return false;
    this.#searches -= 1;
    this.#vain += 1;
    this.#clock.copyBefore(0, history);
    const { lag, likeness } = search.find(this.#copyLine(line), history);
    if (likeness < (this.#quiet < QUIET_FRAMES ? ALIKE : ALIKE_LATE)) return false;
    const again = Math.abs(lag - this.#candidate) < ABOUT_SAMPLES && this.#frame - this.#matchedAt < MATCH_MEMORY_FRAMES;
    if (again) {
      this.#searches += 1;
      this.#vain = 0;
    } else this.#firstMatchAt = this.#frame;
    this.#matches = again ? this.#matches + 1 : 1;
    this.#candidate = lag;
    this.#matchedAt = this.#frame;
    if (this.#matches < MATCHES_TO_LOCK || this.#frame - this.#firstMatchAt < FRAMES_TO_LOCK) return true;
    this.#doubts = 0;
    this.#model.reset();
    this.#voiceAt = Number.NEGATIVE_INFINITY;
    this.#warmUp = WARM_UP_FRAMES;
    this.#aim(lag);
    this.#model.start();
    return true;
  }

  #locked(lag: number, voiced: boolean): boolean {
    this.#look(lag);
    if (!voiced) {
      this.#model.learnNoise();
      this.#model.learn();
      return false;
    }
    const lax = this.#frame - this.#voiceAt < LAX_FRAMES;
    const unsure = this.#warmUp > 0 || this.#frame >= this.#trackAt;
    if (this.#model.explains(lax) && (!unsure || this.#isStillAt(lag))) {
      this.#model.learn();
      this.#model.learnSpread();
      if (this.#warmUp > 0) this.#warmUp -= 1;
      return true;
    }
    if (this.#lag === undefined) return false;
    const nearly = !lax && this.#warmUp === 0 && this.#model.nearlyExplained;
    return (this.#frame - this.#pauseAt < ONSET_FRAMES && this.#startsAround(lag)) || this.#comesFromElsewhere(lag, nearly);
  }

  /** Copies the last samples of the line, as many as there is room for, oldest first. @returns `out` */
  #copyLine(out: Int16Array): Int16Array {
    const ring = this.#ring;
    let from = (this.#frame * FRAME_SAMPLES_8K + SEGMENT_SAMPLES - out.length) % SEGMENT_SAMPLES;
    for (let index = 0; index < out.length; index += 1) {
      out[index] = ring[from]!;
      from = from + 1 === SEGMENT_SAMPLES ? 0 : from + 1;
    }
    return out;
  }

  /** Measures this frame and the piece of the reference it would be the echo of. */
  #look(lag: number): void {
    const { powers, window } = this.#bench;
    const { line: powersHeard, reference } = this.#model;
    this.#clock.copyBefore(lag, window);
    powers.measure(this.#copyLine(lineWindow), window, powersHeard, reference);
    this.#model.advance();
    let power = 0;
    for (const band of reference) power += band;
    this.#pause = power < QUIET_POWER ? this.#pause + 1 : 0;
    if (this.#pause >= PAUSE_FRAMES) this.#pauseAt = this.#frame;
  }

  #aim(lag: number): void {
    this.#lag = lag;
    this.#trackAt = this.#frame + TRACK_EVERY_FRAMES;
    this.#look(lag);
  }

  /** A sentence may reach the carrier slightly earlier or later than the last one did. */
  #startsAround(lag: number): boolean {
    const { powers, window, otherWindow, powersHere, powersThere } = this.#bench;
    this.#clock.copyBefore(lag - FRAME_SAMPLES_8K, window);
    this.#clock.copyBefore(lag + FRAME_SAMPLES_8K, otherWindow);
    powers.measure(window, otherWindow, powersHere, powersThere);
    return this.#model.explainsAround(powersHere, powersThere);
  }

  /**
   * The delay jumped or the gain rose: searches sample by sample, near the old delay and everywhere.
   * @param nearly whether the echo at the old delay almost explains the frame
   */
  #comesFromElsewhere(lag: number, nearly: boolean): boolean {
    if (this.#searches < 1) return false;
    const { search, history } = this.#bench;
    this.#clock.copyBefore(0, history);
    this.#copyLine(line);
    const here = search.findNear(line, history, lag, SAME_REACH, NEAR_SAMPLES).likeness;
    const near = search.findNear(line, history, lag, NEAR_REACH, NEAR_SAMPLES);
    const nearLag = near.lag;
    if (near.likeness > here + BETTER && (near.likeness >= ALIKE_NEAR || this.#seemsFrom(nearLag, near.likeness))) {
      this.#aim(nearLag);
      return true;
    }
    const pure = Math.min(PURE, Math.max(LEAST_PURE, this.#usual + PURER));
    if (here >= (this.#warmUp > 0 ? ALIKE : nearly ? this.#usual - ALIKE_AS_USUAL : pure)) {
      this.#model.learn();
      return true;
    }
    this.#searches -= here < ALIKE ? 1 : 0.5;
    if (here >= ALIKE) return false;
    const far = search.find(line, history);
    if (far.likeness < ALIKE_NEAR) return false;
    this.#aim(far.lag);
    return true;
  }

  #seemsFrom(lag: number, likeness: number): boolean {
    if (likeness < ALIKE_SEEMS) return false;
    const { powers, window, otherWindow, powersHere, powersThere } = this.#bench;
    this.#clock.copyBefore(lag, window);
    this.#clock.copyBefore(lag + FRAME_SAMPLES_8K, otherWindow);
    powers.measure(window, otherWindow, powersHere, powersThere);
    return this.#model.explainsFrom(powersHere, powersThere);
  }

  /** Measures the delay again; an echo that stays unfound is dropped. */
  #isStillAt(lag: number): boolean {
    this.#trackAt = this.#frame + TRACK_EVERY_FRAMES;
    const { search, history } = this.#bench;
    this.#clock.copyBefore(0, history);
    this.#copyLine(line);
    const { lag: found, likeness } = search.findNear(line, history, lag, TRACK_REACH, SEGMENT_SAMPLES);
    if (likeness > ALIKE) this.#lag = found;
    this.#usual += USUAL_PACE * (search.findNear(line, history, found, SAME_REACH, NEAR_SAMPLES).likeness - this.#usual);
    this.#doubts = likeness < STILL_ALIKE ? this.#doubts + 1 : 0;
    if (this.#doubts === 0) return true;
    if (this.#doubts >= (this.#warmUp > 0 ? MOST_DOUBTS : MOST_LATER_DOUBTS)) this.#lag = undefined;
    return this.#warmUp === 0 && this.#lag !== undefined;
  }
}
