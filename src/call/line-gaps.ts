/** Timestamps that are rounded, or count by another clock than ours, differ by less than this from where the last audio ended. */
const LEAST_GAP_MS = 20;
/** What is missing for longer is not made up for whole: the line was away. */
const MOST_GAP_MS = 2_000;

/** Finds what a carrier's timestamps prove to be missing: frames that were lost, or never sent because nobody spoke. */
export class LineGaps {
  /** Where the last audio ended, by the carrier's timestamps. */
  #endMs: number | undefined;

  /**
   * @param timestampMs of audio that has come, in the order it came; undefined where the carrier gives none
   * @returns how much sound is missing before it, in ms; 0 where nothing is, or nothing proves it
   */
  before(timestampMs: number | undefined, durationMs: number): number {
    if (timestampMs === undefined) return 0;
    const gapMs = timestampMs - (this.#endMs ?? timestampMs);
    const isLate = gapMs <= -LEAST_GAP_MS && gapMs > -MOST_GAP_MS;
    if (!isLate) this.#endMs = timestampMs + durationMs;
    return gapMs < LEAST_GAP_MS ? 0 : Math.min(gapMs, MOST_GAP_MS);
  }
}
