import { DetectorLine } from '../../../audio/detector-line.ts';
import { FRAME_SAMPLES_8K, NARROW_RATE_HZ } from '../../../audio/format.ts';
import { WINDOW_SAMPLES } from './band-powers.ts';
import { EchoModel } from './echo-model.ts';
import { LineClock } from './line-clock.ts';
import { MOST_LAG_SAMPLES, SEGMENT_SAMPLES } from './echo-search.ts';
import { SpokenText } from './spoken-text.ts';
import { echoWorkbench } from './workbench.ts';

/** Two voices are hardly ever so alike by chance; while a call may still turn out to have an echo, this is one. */
const ALIKE = 0.46;
/** The same on a line from which the bot has not come back in all the time it could have. */
const ALIKE_LATE = 0.65;
const QUIET_FRAMES = 125;
/** With so few places to choose from, this much is a new delay; or less where the bands agree. */
const ALIKE_NEAR = 0.6;
const ALIKE_SEEMS = 0.35;
/** A new delay must be this much more alike than the old one. */
const BETTER = 0.1;
/** So much alike is one place of the reference and nothing else; or so much more than this line's echo usually is. */
const PURE = 0.95;
const LEAST_PURE = 0.75;
const PURER = 0.05;
const FIRST_USUAL = 0.9;
/** An echo that is a little louder than expected is as alike as usual, or hardly less; with a voice in it, it is not. */
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
/** Frames of echo after which the gains are taken for learned. */
const WARM_UP_FRAMES = 15;
/** An echo is at least so much alike where it is known to come from; this many times not, and it was none. */
const STILL_ALIKE = 0.35;
const MOST_DOUBTS = 3;
const MOST_LATER_DOUBTS = 8;
/** A search takes about 2 ms: a few at once, then one in this many frames. */
const MOST_SEARCHES = 8;
const FRAMES_PER_SEARCH = 12;
/** On a line that has shown no echo it is looked for half as often after so many searches, and again, down to this. */
const VAIN_SEARCHES = 8;
const MOST_HALVINGS = 5;
/** Clocks drift: the delay is measured again this often, this far around. */
const TRACK_EVERY_FRAMES = 25;
const TRACK_REACH = 40;
/** How long a voice that was heard over the echo makes the next frames likely to be one, too. */
const LAX_FRAMES = 25;
/** After this much quiet a sentence starts, and where exactly is not known for this long. */
const PAUSE_FRAMES = 8;
const ONSET_FRAMES = 8;
const QUIET_POWER = 2_000;
/** An echo explained a frame so lately that the line is taken to have one. */
const RECENT_FRAMES = 150;

/** A line in order, and the end of it that is looked at: memory of all guards, in which nothing outlives one judgement. */
const line = new Int16Array(SEGMENT_SAMPLES);
const lineWindow = new Int16Array(WINDOW_SAMPLES);

/**
 * Tells the bot's own voice, come back over the caller's line, from the caller's. It never silences anything: a frame is
 * explained only when the audio that was sent, at the delay and loss of this line, accounts for all that is in it. On a
 * line without echo nothing is ever locked to, and frames are left as they are.
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
  /** Searches since one found what another had. */
  #vain = 0;
  #nowMs = 0;
  /** Frames without a voice while the bot could have been heard, before any echo was. */
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

  /** @param sentRateHz of what is sent; frames of the line are at the detectors' 8 kHz */
  constructor(sentRateHz = NARROW_RATE_HZ) {
    this.#sent = new DetectorLine(sentRateHz);
  }

  /** The echo's delay against the playout clock, while there is one. */
  get delayMs(): number | undefined {
    return this.#lag === undefined ? undefined : (this.#lag * 20) / FRAME_SAMPLES_8K;
  }

  /** Whether these recognised words are the bot's: it said them, they come back, and nobody else was heard for a while. */
  repeats(text: string, nowMs: number): boolean {
    const echoes = this.#frame - this.#explainedAt < RECENT_FRAMES;
    const alone = this.#frame - this.#voiceAt >= RECENT_FRAMES;
    return echoes && alone && this.spoken.contains(text, nowMs);
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
    if (!this.#clock.soundedWithin(MOST_LAG_SAMPLES + 2 * SEGMENT_SAMPLES)) return false;
    const explained = this.#lag === undefined ? this.#unlocked(voiced) : this.#locked(this.#lag, voiced);
    if (explained) this.#explainedAt = this.#frame;
    else if (voiced) {
      if (this.#frame - this.#unexplainedAt <= 2) this.#voiceAt = this.#frame;
      this.#unexplainedAt = this.#frame;
    }
    return explained;
  }

  #unlocked(voiced: boolean): boolean {
    if (!voiced) {
      this.#quiet += 1;
      return false;
    }
    const { search, history, budget } = this.#bench;
    // Of a delay that has been found twice a third match is waited for; anything else can be chance.
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

  /** A sentence reaches the carrier a little earlier or later than the last one did. */
  #startsAround(lag: number): boolean {
    const { powers, window, otherWindow, powersHere, powersThere } = this.#bench;
    this.#clock.copyBefore(lag - FRAME_SAMPLES_8K, window);
    this.#clock.copyBefore(lag + FRAME_SAMPLES_8K, otherWindow);
    powers.measure(window, otherWindow, powersHere, powersThere);
    return this.#model.explainsAround(powersHere, powersThere);
  }

  /**
   * The delay has jumped, or the gain has risen: looked for sample by sample, near the old delay and everywhere.
   * @param nearly whether the echo at the old delay all but explains the frame
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

  /** Measures the delay again; an echo that is not found for a while was none, or is gone. */
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
