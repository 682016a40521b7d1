import { DEFAULT_LINE } from '../turn/turn-settings.ts';

/** Share of passing time by which dates catch up on a lagging line. */
const CATCH_UP = 0.1;

/**
 * Dates inbound audio on our clock. After a stall of the network or the process, waiting audio arrives at once; dated by arrival, it would be a
 * silence with everything said at its end. Late audio is dated right after the audio before it, by the carrier's timestamps. A permanently late line
 * is dated by arrival again within seconds.
 */
export class FrameTime {
  /** Last audio: its end timestamp, that end on our clock, and its arrival. */
  #stampMs: number | undefined;
  #overMs = 0;
  #cameMs = 0;
  #late = false;

  /**
   * Dates the next audio, in the order it was sent.
   * @param timestampMs first sample's carrier timestamp; undefined where it gives none
   * @param nowMs arrival, on the monotonic clock
   * @returns its end on the monotonic clock: never later than now, never before the last one
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

  /** The end of audio that continues the last; now, where that is not known. */
  #goesOn(stampMs: number | undefined, durationMs: number, nowMs: number): number {
    if (stampMs === undefined || this.#stampMs === undefined || stampMs < this.#stampMs) return nowMs;
    // Audio takes at least its own duration, whatever its timestamps say.
    const passedMs = Math.max(durationMs, stampMs - this.#stampMs);
    return this.#overMs + passedMs + Math.min(CATCH_UP * passedMs, nowMs - this.#cameMs);
  }
}

/** Smaller differences are rounding or clock drift. */
const LEAST_GAP_MS = 20;
/** A longer gap is not filled completely: the line was away. */
const MOST_GAP_MS = 2_000;
/** Most that sound, with filled gaps, may be ahead of elapsed time. */
const MOST_AHEAD_MS = 2_000;

/** Finds audio that the carrier's timestamps prove missing: lost frames, or silence that was never sent. */
export class LineGaps {
  /** End of the last audio, by the carrier's timestamps. */
  #endMs: number | undefined;
  /** Arrival of the first sample, and the sound since, filled gaps included. */
  #firstMs: number | undefined;
  #lengthMs = 0;

  /**
   * @param timestampMs of the audio that arrived, in order; undefined where the carrier gives none
   * @param nowMs arrival, on the monotonic clock: unsteady timestamps fill no more than the elapsed time
   * @returns missing audio before it, in ms; 0 where none is proven
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
