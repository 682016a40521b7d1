/** How late a process's event loop was, over a stretch of time. */
export interface LoopLag {
  readonly p99Ms: number;
  readonly maxMs: number;
}

const EVERY_MS = 10;

/** Measures how late timers fire, which is how late everything else is too. */
export class LoopWatch {
  #latenessMs: number[] = [];
  #dueMs = performance.now() + EVERY_MS;

  constructor() {
    setTimeout(() => this.#tick(), EVERY_MS).unref();
  }

  /** The lag since the last call. */
  take(): LoopLag {
    const sorted = this.#latenessMs.sort((a, b) => a - b);
    this.#latenessMs = [];
    const at = (share: number): number => Math.round(10 * (sorted[Math.ceil(share * sorted.length) - 1] ?? 0)) / 10;
    return { p99Ms: at(0.99), maxMs: at(1) };
  }

  #tick(): void {
    const nowMs = performance.now();
    // A timer of Node's is up to a millisecond late by nature.
    this.#latenessMs.push(Math.max(0, nowMs - this.#dueMs - 1));
    this.#dueMs = nowMs + EVERY_MS;
    setTimeout(() => this.#tick(), EVERY_MS).unref();
  }
}

/** Milliseconds on the machine's monotonic clock, which all its processes share, less those on this process's own. */
export function monotonicOffsetMs(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}
