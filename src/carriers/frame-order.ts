/** A frame that comes later than this behind its successors is lost: longer would be heard as a hole in the caller's speech. */
const WINDOW_MS = 60;
/** Numbers that fall by more than this begin anew: the carrier has restarted its stream. */
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
 * Puts audio frames in order that a carrier numbers by ones and may send out of order. A frame in its turn goes on at once. One that is early
 * is held, with what follows it, until the missing one comes or 60 ms of audio wait; the hole then shows in the timestamps.
 */
export class FrameOrder {
  readonly #durationMs: (byteLength: number) => number;
  /** In order of their numbers. */
  #held: HeldFrame[] = [];
  #next: number | undefined;

  /** @param durationMs how long audio of so many bytes is */
  constructor(durationMs: (byteLength: number) => number) {
    this.#durationMs = durationMs;
  }

  /**
   * @param number undefined for a frame without one, which goes on as it came
   * @param payload copied where it is held
   * @returns what is in turn now; `held` where that is nothing yet, `late` for a frame that came twice or too late
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

  /** What is held and in turn now. */
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
