/** Larger values are not ms of any clock, and leave no precision for frames. */
const MOST_TIMESTAMP_MS = 1e15;
/** How far a carrier's timestamps or audio may run ahead of our clock: a delayed first frame, and drift over hours. */
const MOST_LEAD_MS = 10_000;

/**
 * Validates media timestamps. Wire time may lag, as messages are delayed, but a stream cannot be ahead of the time since it began: believing that
 * would insert hours of silence.
 */
export class MediaTime {
  #startedMs: number | undefined;
  /** Arrival time of the first sample. */
  #firstMs: number | undefined;
  /** Total audio so far. */
  #lengthMs = 0;

  /**
   * @param timestampMs the carrier's, in ms on its own clock
   * @param nowMs arrival, on the monotonic clock
   * @returns the timestamp; undefined for an absent, invalid or too early one
   */
  check(timestampMs: number | undefined, nowMs: number): number | undefined {
    if (timestampMs === undefined || !(timestampMs >= 0 && timestampMs <= MOST_TIMESTAMP_MS)) return undefined;
    this.#startedMs ??= nowMs - timestampMs;
    return this.#startedMs + timestampMs > nowMs + MOST_LEAD_MS ? undefined : timestampMs;
  }

  /**
   * Whether this much audio can have been spoken since the stream began: faster audio would fill recording and recogniser with hours.
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
