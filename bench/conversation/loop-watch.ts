/** How late a process's event loop was, over a stretch of time. */
export interface LoopLag {
  readonly p99Ms: number;
  readonly maxMs: number;
  /** When the process was kept waiting for a processor, on the machine's monotonic clock; its own work does not count. */
  readonly starved: readonly Stretch[];
}

export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const EVERY_MS = 10;
/** Waiting no longer than this changes no measurement by more than a frame. */
const STARVED_MS = 25;

/** Measures how late timers fire, which is how late everything else is too. */
export class LoopWatch {
  readonly #offsetMs = monotonicOffsetMs();
  #latenessMs: number[] = [];
  #starved: Stretch[] = [];
  #lastMs = performance.now();
  #cpuMs = cpuMs();

  constructor() {
    setTimeout(() => this.#tick(), EVERY_MS).unref();
  }

  /** The lag since the last call. */
  take(): LoopLag {
    const sorted = this.#latenessMs.sort((a, b) => a - b);
    const starved = this.#starved;
    this.#latenessMs = [];
    this.#starved = [];
    const at = (share: number): number => Math.round(10 * (sorted[Math.ceil(share * sorted.length) - 1] ?? 0)) / 10;
    return { p99Ms: at(0.99), maxMs: at(1), starved };
  }

  #tick(): void {
    const nowMs = performance.now();
    const usedMs = cpuMs();
    // A timer of Node's is up to a millisecond late by nature.
    const lateMs = Math.max(0, nowMs - this.#lastMs - EVERY_MS - 1);
    this.#latenessMs.push(lateMs);
    if (Math.min(lateMs, nowMs - this.#lastMs - (usedMs - this.#cpuMs)) > STARVED_MS)
      this.#starved.push({ fromMs: this.#lastMs + this.#offsetMs, toMs: nowMs + this.#offsetMs });
    this.#lastMs = nowMs;
    this.#cpuMs = usedMs;
    setTimeout(() => this.#tick(), EVERY_MS).unref();
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds on the machine's monotonic clock, which all its processes share, less those on this process's own. */
export function monotonicOffsetMs(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}
