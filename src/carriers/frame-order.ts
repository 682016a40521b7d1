/** A frame this late is lost: waiting longer would be an audible gap. */
const WINDOW_MS = 60;
/** A larger step back means that the carrier restarted its numbering. */
const MOST_BEHIND = 50;

/** Audio of one or more frames in a row. */
export interface OrderedAudio {
  readonly payload: Uint8Array;
  readonly timestampMs: number | undefined;
}

interface HeldFrame extends OrderedAudio {
  readonly number: number;
}

/**
 * Reorders audio frames that a carrier numbers by ones and may send out of order. A frame in sequence passes at once. An early one waits for the
 * missing one, up to 60 ms of audio; a gap then shows in the timestamps.
 */
export class FrameOrder {
  readonly #durationMs: (byteLength: number) => number;
  /** By number. */
  #held: HeldFrame[] = [];
  #next: number | undefined;

  /** @param durationMs duration of this many bytes of audio */
  constructor(durationMs: (byteLength: number) => number) {
    this.#durationMs = durationMs;
  }

  /**
   * @param number undefined for an unnumbered frame, which passes as it came
   * @param payload copied where it is held
   * @returns audio now in sequence; `held` where there is none yet, `late` for a repeated or late frame
   */
  take(number: number | undefined, payload: Uint8Array, timestampMs: number | undefined): OrderedAudio | 'held' | 'late' {
    if (number === undefined) return { payload, timestampMs };
    if (this.#next !== undefined && number < this.#next - MOST_BEHIND) {
      this.#held = [];
      this.#next = undefined;
    }
    const next = this.#next ?? number;
    if (number < next) return 'late';
    if (number === next) {
      this.#next = number + 1;
      return this.#held[0]?.number === this.#next
        ? joined([{ payload, timestampMs }, ...this.#takeRun()])
        : { payload, timestampMs };
    }
    const at = this.#held.findIndex((frame) => frame.number >= number);
    if (this.#held[at]?.number === number) return 'late';
    this.#held.splice(at === -1 ? this.#held.length : at, 0, { number, payload: Uint8Array.from(payload), timestampMs });
    const heldMs = this.#held.reduce((sum, frame) => sum + this.#durationMs(frame.payload.length), 0);
    if (heldMs < WINDOW_MS) return 'held';
    this.#next = this.#held[0]?.number;
    return joined(this.#takeRun());
  }

  /** Held frames that are now in sequence. */
  #takeRun(): readonly HeldFrame[] {
    let length = 0;
    while (this.#next !== undefined && this.#held[length]?.number === this.#next) {
      this.#next += 1;
      length += 1;
    }
    return this.#held.splice(0, length);
  }
}

function joined(run: readonly OrderedAudio[]): OrderedAudio {
  return { payload: Buffer.concat(run.map(({ payload }) => payload)), timestampMs: run[0]?.timestampMs };
}
