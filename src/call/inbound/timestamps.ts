import { DEFAULT_LINE } from '../turn/turn-settings.ts';

/** Share of the time that passes by which dates catch up with a line that stays behind. */
const CATCH_UP = 0.1;

/**
 * When the caller's audio was over, as far as one can tell from when it came. After a stall of the network, or of this
 * process, what has waited comes all at once: by its arrival it would be a silence with everything said at its end. Late audio
 * goes on where the audio before it ended, by the carrier's timestamps. A line that is behind for good has its arrival for a
 * date again within seconds.
 */
export class FrameTime {
  /** Of the last audio: the timestamp of its end, when that was by our clock, and when it came. */
  #stampMs: number | undefined;
  #overMs = 0;
  #cameMs = 0;
  #late = false;

  /**
   * Audio came, in the order in which it was sent.
   * @param timestampMs of its first sample, the carrier's; undefined where it gives none
   * @param nowMs arrival, on the monotonic clock
   * @returns its end on the monotonic clock: never later than now, never earlier than the last one
   */
  endOf(timestampMs: number | undefined, durationMs: number, nowMs: number): number {
    const stampMs = timestampMs === undefined ? undefined : timestampMs + durationMs;
    const goesOnMs = this.#goesOn(stampMs, durationMs, nowMs);
    const lateMs = nowMs - goesOnMs;
    this.#late = lateMs > (this.#late ? 0 : DEFAULT_LINE.lateAfterMs) && lateMs < DEFAULT_LINE.lateUntilMs;
    this.#stampMs = stampMs;
    this.#overMs = this.#late ? goesOnMs : nowMs;
    this.#cameMs = nowMs;
    return this.#overMs;
  }

  /** The end of audio that goes on where the last ended; now, where nothing tells that it does. */
  #goesOn(stampMs: number | undefined, durationMs: number, nowMs: number): number {
    if (stampMs === undefined || this.#stampMs === undefined || stampMs < this.#stampMs) return nowMs;
    // Whatever its timestamps count, audio takes the time it lasts.
    const passedMs = Math.max(durationMs, stampMs - this.#stampMs);
    return this.#overMs + passedMs + Math.min(CATCH_UP * passedMs, nowMs - this.#cameMs);
  }
}

/** Timestamps that are rounded, or count by another clock than ours, differ by less than this from where the last audio ended. */
const LEAST_GAP_MS = 20;
/** What is missing for longer is not made up for whole: the line was away. */
const MOST_GAP_MS = 2_000;
/** How far the sound, with what is made up of it, may be ahead of the time since its beginning. */
const MOST_AHEAD_MS = 2_000;

/** Finds what a carrier's timestamps prove to be missing: frames that were lost, or never sent because nobody spoke. */
export class LineGaps {
  /** Where the last audio ended, by the carrier's timestamps. */
  #endMs: number | undefined;
  /** When the first sample was, by its arrival, and how much sound there is since, with what was made up. */
  #firstMs: number | undefined;
  #lengthMs = 0;

  /**
   * @param timestampMs of audio that has come, in the order it came; undefined where the carrier gives none
   * @param nowMs arrival, on the monotonic clock: timestamps that go to and fro make up no more than the time that passes
   * @returns how much sound is missing before it, in ms; 0 where nothing is, or nothing proves it
   */
  before(timestampMs: number | undefined, durationMs: number, nowMs: number): number {
    this.#firstMs ??= nowMs - durationMs;
    const roomMs = Math.max(0, nowMs - this.#firstMs + MOST_AHEAD_MS - this.#lengthMs - durationMs);
    const missingMs = Math.min(this.#missing(timestampMs, durationMs), Math.floor(roomMs));
    this.#lengthMs += durationMs + missingMs;
    return missingMs;
  }

  #missing(timestampMs: number | undefined, durationMs: number): number {
    if (timestampMs === undefined) return 0;
    const gapMs = timestampMs - (this.#endMs ?? timestampMs);
    const isLate = gapMs <= -LEAST_GAP_MS && gapMs > -MOST_GAP_MS;
    if (!isLate) this.#endMs = timestampMs + durationMs;
    return gapMs < LEAST_GAP_MS ? 0 : Math.min(gapMs, MOST_GAP_MS);
  }
}
