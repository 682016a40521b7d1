/** Gaps within sentences by cause, and marks that returned from before a clear. */
export interface PlayoutCounters {
  starvedBySource: number;
  starvedByGateway: number;
  marksUnknown: number;
}

/** How evenly audio was sent, in ms; absent where not measured. */
export interface PlayoutSummary {
  /** Longest unintended gap within a sentence: the carrier had run dry. */
  readonly longestHoleMs: number;
  /** Lateness of returned marks, network included: 95 of 100 came earlier. */
  readonly latenessP95Ms?: number;
  /** Audio the carrier still had when more of a sentence was sent: 95 of 100 times it had more. */
  readonly leadP5Ms?: number;
  /** Marks sent, and marks returned under their names; absent for a carrier without marks. */
  readonly marksSent?: number;
  readonly marksReturned?: number;
  /** 1 where heard text is estimated by the playout clock: the carrier has no marks, or returned too few. */
  readonly heardEstimated?: number;
}

const BIN_MS = 5;
/** Two seconds in 5 ms steps; larger values count as that. */
const BINS = 401;

/** Counts values in steps of 5 ms, in constant memory. */
class Histogram {
  readonly #bins = new Uint32Array(BINS);
  #count = 0;

  add(ms: number): void {
    this.#bins[Math.min(BINS - 1, Math.max(0, Math.round(ms / BIN_MS)))]! += 1;
    this.#count += 1;
  }

  /** @returns the least value at or above this share of all; undefined without values */
  percentile(share: number): number | undefined {
    let left = Math.ceil(share * this.#count);
    if (left === 0) return undefined;
    for (let bin = 0; ; bin += 1) {
      left -= this.#bins[bin]!;
      if (left <= 0) return bin * BIN_MS;
    }
  }
}

export class PlayoutMeasures {
  readonly #leads = new Histogram();
  readonly #lates = new Histogram();
  #longestHoleMs = 0;

  /** More of a sentence is sent to a carrier that has this much left. @param leadMs negative for a gap */
  sendsOn(leadMs: number): void {
    this.#leads.add(leadMs);
    this.#longestHoleMs = Math.max(this.#longestHoleMs, -leadMs);
  }

  markReturned(lateMs: number): void {
    this.#lates.add(lateMs);
  }

  get summary(): PlayoutSummary {
    const latenessP95Ms = this.#lates.percentile(0.95);
    const leadP5Ms = this.#leads.percentile(0.05);
    return {
      longestHoleMs: Math.round(this.#longestHoleMs),
      ...(latenessP95Ms === undefined ? {} : { latenessP95Ms }),
      ...(leadP5Ms === undefined ? {} : { leadP5Ms }),
    };
  }
}
