import { seededRandom } from '../../../audio/tone.ts';

/** A range of milliseconds that times are drawn from, both ends included. */
export interface Span {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** A fault that hits a share of cases, with a random time. */
export interface TimedShare extends Span {
  /** 0 (never) to 1 (always). */
  readonly share: number;
}

/** Injected faults, for testing clients. Each is drawn independently; shares are 0 to 1. */
export interface Faults {
  /** Seed: the same seed and order of requests give the same faults. Random when absent. */
  readonly seed?: number;
  /** Delay before a request or the opening of a socket is processed. */
  readonly latency?: Span;
  /** Share of requests and socket openings that are answered with `status`. */
  readonly errors?: { readonly share: number; readonly status: number };
  /** Share of commits, segments and syntheses on sockets that end in an error event and a close. */
  readonly failedTurns?: number;
  /** Sockets that are cut without a close frame, and their life. */
  readonly droppedSockets?: TimedShare;
  /** Finals with text that are delayed, with all finals behind them. */
  readonly lateFinals?: TimedShare;
  /** Share of finals with text that are sent twice. */
  readonly repeatedFinals?: number;
  /** Share of finals with text that are never sent. */
  readonly lostFinals?: number;
}

type Knob = Exclude<keyof Faults, 'seed'>;

/**
 * Draws injected faults. Each fault has a random source of its own, so that changing one does not change the others.
 */
export class FaultDice {
  readonly #faults: Faults;
  readonly #random: Readonly<Record<Knob, () => number>>;

  constructor(faults: Faults, seed: number) {
    this.#faults = faults;
    const source = (index: number): (() => number) => seededRandom((seed + Math.imul(index, 0x9e37_79b9)) >>> 0);
    this.#random = {
      latency: source(0),
      errors: source(1),
      failedTurns: source(2),
      droppedSockets: source(3),
      lateFinals: source(4),
      repeatedFinals: source(5),
      lostFinals: source(6),
    };
  }

  /** Delay of the next request or opening; 0 for none. */
  latencyMs(): number {
    const span = this.#faults.latency;
    return span === undefined ? 0 : drawn(span, this.#random.latency);
  }

  /** Status that the next request or opening fails with; undefined when it does not fail. */
  errorStatus(): number | undefined {
    const { errors } = this.#faults;
    return errors !== undefined && this.#random.errors() < errors.share ? errors.status : undefined;
  }

  /** Whether the next commit, segment or synthesis fails. */
  failsTurn(): boolean {
    return hits(this.#faults.failedTurns, this.#random.failedTurns);
  }

  /** Life of the next socket; undefined when it is not cut. */
  dropAfterMs(): number | undefined {
    return timed(this.#faults.droppedSockets, this.#random.droppedSockets);
  }

  /** Delay of the next final with text; 0 for none. */
  finalDelayMs(): number {
    return timed(this.#faults.lateFinals, this.#random.lateFinals) ?? 0;
  }

  /** Times the next final with text is sent: 0, 1 or 2. */
  finalCopies(): 0 | 1 | 2 {
    if (hits(this.#faults.lostFinals, this.#random.lostFinals)) return 0;
    return hits(this.#faults.repeatedFinals, this.#random.repeatedFinals) ? 2 : 1;
  }
}

/** No injected faults. */
export const noFaults = new FaultDice({}, 0);

function hits(share: number | undefined, random: () => number): boolean {
  return share !== undefined && random() < share;
}

function timed(fault: TimedShare | undefined, random: () => number): number | undefined {
  return fault !== undefined && hits(fault.share, random) ? drawn(fault, random) : undefined;
}

function drawn({ leastMs, mostMs }: Span, random: () => number): number {
  return leastMs + Math.floor(random() * (mostMs - leastMs + 1));
}
