/**
 * Maps the gateway's monotonic clock to recording positions, which follow the carrier's clock: caller audio stands at its timestamps, the bot's where
 * it was playing at that moment. The clock offset is the smallest recent delay, since delay only adds.
 */
export class SampleClock {
  #baseMs = 0;
  /** NaN before the first frame: an always-numeric field is stored in place, without allocation. */
  #offsetMs = Number.NaN;
  #windowMinMs = Number.POSITIVE_INFINITY;
  #windowEndsMs = 0;
  #windowsMs: number[] = [];
  /** The least offset of the finished windows. */
  #earlierMs = Number.POSITIVE_INFINITY;

  /** Starts a new attachment whose first frame belongs at `positionMs` and carries `timestampMs`. */
  attach(positionMs: number, timestampMs: number, arrivalMs: number): void {
    this.#baseMs = positionMs - timestampMs;
    this.#offsetMs = Number.NaN;
    this.#windowsMs = [];
    this.#earlierMs = Number.POSITIVE_INFINITY;
    this.#windowMinMs = Number.POSITIVE_INFINITY;
    this.#windowEndsMs = arrivalMs + WINDOW_MS;
    this.observe(timestampMs, arrivalMs);
  }

  /** Takes in a frame's timestamp and when it arrived. */
  observe(timestampMs: number, arrivalMs: number): void {
    const delayMs = arrivalMs - this.position(timestampMs);
    this.#windowMinMs = Math.min(this.#windowMinMs, delayMs);
    if (arrivalMs >= this.#windowEndsMs) {
      this.#windowsMs = [...this.#windowsMs.slice(-2), this.#windowMinMs];
      this.#earlierMs = Math.min(...this.#windowsMs);
      this.#windowMinMs = delayMs;
      this.#windowEndsMs = arrivalMs + WINDOW_MS;
    }
    this.#offsetMs = Math.min(this.#windowMinMs, this.#earlierMs);
  }

  /** Recording position of a carrier timestamp, in ms. */
  position(timestampMs: number): number {
    return this.#baseMs + timestampMs;
  }

  /** Recording position of a monotonic time; undefined before the first frame. */
  positionAt(monotonicMs: number): number | undefined {
    return Number.isNaN(this.#offsetMs) ? undefined : monotonicMs - this.#offsetMs;
  }
}

const WINDOW_MS = 5_000;
