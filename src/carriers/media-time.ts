/** More than this is no time of any clock in ms, and less of it than a frame could be told. */
const MOST_TIMESTAMP_MS = 1e15;
/** How far a carrier's timestamps, or its audio, may run ahead of our clock: a first frame that was held up, and drift of hours. */
const MOST_LEAD_MS = 10_000;

/**
 * Tells a media timestamp from a number that cannot be one. Time on the wire may lag, since messages are delayed, but a
 * stream cannot be further along than the time since it began: whoever believes that it is makes up hours of silence.
 */
export class MediaTime {
  #startedMs: number | undefined;
  /** When the first sample of all audio was, by its arrival. */
  #firstMs: number | undefined;
  /** How much audio has come. */
  #lengthMs = 0;

  /**
   * @param timestampMs the carrier's, in ms on a clock of its own
   * @param nowMs arrival, on the monotonic clock
   * @returns the timestamp; undefined for one that is ahead of time, or of no clock, or was absent
   */
  check(timestampMs: number | undefined, nowMs: number): number | undefined {
    if (timestampMs === undefined || !(timestampMs >= 0 && timestampMs <= MOST_TIMESTAMP_MS)) return undefined;
    this.#startedMs ??= nowMs - timestampMs;
    return this.#startedMs + timestampMs > nowMs + MOST_LEAD_MS ? undefined : timestampMs;
  }

  /**
   * Whether audio that lasts for so long can have been spoken since the stream began: a carrier that sends faster than that would
   * fill the recording and the recogniser with hours.
   * @param nowMs arrival, on the monotonic clock
   */
  admits(durationMs: number, nowMs: number): boolean {
    this.#firstMs ??= nowMs - durationMs;
    const lengthMs = this.#lengthMs + durationMs;
    if (lengthMs > nowMs - this.#firstMs + MOST_LEAD_MS) return false;
    this.#lengthMs = lengthMs;
    return true;
  }
}
