/** How far a carrier's timestamps may run ahead of our clock: a first frame that was held up, and drift of hours. */
const MOST_LEAD_MS = 10_000;

/**
 * Tells a media timestamp from a number that cannot be one. Time on the wire may lag, since messages are delayed, but a
 * stream cannot be further along than the time since it began: whoever believes that it is makes up hours of silence.
 */
export class MediaTime {
  #startedMs: number | undefined;

  /**
   * @param timestampMs the carrier's, in ms on a clock of its own
   * @param nowMs arrival, on the monotonic clock
   * @returns the timestamp; undefined for one that is ahead of time, or was absent
   */
  check(timestampMs: number | undefined, nowMs: number): number | undefined {
    if (timestampMs === undefined) return undefined;
    this.#startedMs ??= nowMs - timestampMs;
    return this.#startedMs + timestampMs > nowMs + MOST_LEAD_MS ? undefined : timestampMs;
  }
}
