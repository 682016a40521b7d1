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
