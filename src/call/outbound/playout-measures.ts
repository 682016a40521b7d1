/** Holes within sentences, by whose fault, and marks that came back from before a clear. */
export interface PlayoutCounters {
  starvedBySource: number;
  starvedByGateway: number;
  marksUnknown: number;
}

/** How evenly a call's audio went out, in ms; what was never measured is absent. */
export interface PlayoutSummary {
  /** The longest silence within a sentence that nobody meant: the carrier had run dry. */
  readonly longestHoleMs: number;
  /** How much later than due marks came back: 95 of 100 came earlier. With the network's way in it. */
  readonly latenessP95Ms?: number;
  /** What the carrier still had to play when it was sent more of a sentence: 95 of 100 times it had more. */
  readonly leadP5Ms?: number;
  /** Marks that the carrier was sent, and those that came back under their names; absent where it has none. */
  readonly marksSent?: number;
  readonly marksReturned?: number;
  /** 1 where the playout clock tells how much was heard: the carrier has no marks, or returned too few of them. */
  readonly heardEstimated?: number;
}

const BIN_MS = 5;
/** Two seconds; what is more counts as that. */
const BINS = 401;

/** Counts values by steps of 5 ms, so that a long call takes no more memory than a short one. */
class Histogram {
  readonly #bins = new Uint32Array(BINS);
  #count = 0;

  add(ms: number): void {
    this.#bins[Math.min(BINS - 1, Math.max(0, Math.round(ms / BIN_MS)))]! += 1;
    this.#count += 1;
  }

  /** @returns the least value that so large a share is not above; undefined for no values */
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

  /** More of a sentence is sent to a carrier that has, or has not had for a while, so much of it. @param leadMs negative for a hole */
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
