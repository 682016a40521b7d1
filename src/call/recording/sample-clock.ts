/**
 * Maps the gateway's monotonic clock to positions in the recording, whose clock is the carrier's: caller audio stands
 * where its timestamps say, and the bot's where it was playing at the same moment. The offset between the clocks is the
 * smallest delay seen lately, since delay only ever adds.
 */
export class SampleClock {
  #baseMs = 0;
  /** NaN before the first frame: a field that is always a number is written where it stands, with nothing left for a collection. */
  #offsetMs = Number.NaN;
  #windowMinMs = Number.POSITIVE_INFINITY;
  #windowEndsMs = 0;
  #windowsMs: number[] = [];
  /** The least of the windows that are over. */
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

  /** Where a carrier timestamp stands in the recording, in ms. */
  position(timestampMs: number): number {
    return this.#baseMs + timestampMs;
  }

  /** Where the recording stands at a moment of the monotonic clock; undefined before the first frame. */
  positionAt(monotonicMs: number): number | undefined {
    return Number.isNaN(this.#offsetMs) ? undefined : monotonicMs - this.#offsetMs;
  }
}

const WINDOW_MS = 5_000;
