/** A stretch of milliseconds that a time is drawn from, both ends included. */
export interface Span {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Something that happens to a share of cases, and the time it takes. */
export interface TimedShare extends Span {
  /** 0 (never) to 1 (always). */
  readonly share: number;
}

/** A bad day of the platform, for testing clients. Each knob is drawn for by itself; shares are 0 to 1. */
export interface Faults {
  /** Chance starts from here: the same seed and the same order of requests give the same faults. Drawn when absent. */
  readonly seed?: number;
  /** Wait before a request or the opening of a socket is looked at. */
  readonly latency?: Span;
  /** Share of requests and of openings of sockets that are answered with `status`. */
  readonly errors?: { readonly share: number; readonly status: number };
  /** Share of commits, segments and syntheses on sockets that end in an error event and a close. */
  readonly failedTurns?: number;
  /** Sockets that are cut without a close frame, and how long after they were opened. */
  readonly droppedSockets?: TimedShare;
  /** Finals with text that come later than they were made; those behind them wait too. */
  readonly lateFinals?: TimedShare;
  /** Share of finals with text that are sent twice. */
  readonly repeatedFinals?: number;
  /** Share of finals with text that are never sent. */
  readonly lostFinals?: number;
}
