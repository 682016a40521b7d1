/** After a change of way what it leaves behind is not measured: collections, code that is made anew. */
const SETTLE_MS = 200;
const STRETCH_MS = 1_800;

declare global {
  /** Which of two ways the measured code goes: set while one process is compared with itself. */
  var offhookWay: 0 | 1 | undefined;
}

/** What way 1 costs beside way 0. */
export interface WaysCompared {
  /** Stretches of way 1. */
  readonly n: number;
  /** What it costs more, as a share of what way 0 costs; less than 0 where it costs less. */
  readonly change: number;
  /** Standard error of that. */
  readonly error: number;
}

/**
 * Sends a process one way and the other in turn, with the same calls, and adds up what each costs. The machine's pace, which
 * moves rows apart by more than most changes do, is the same for both.
 */
export class TwoWays {
  /** Processor time over wall time of each stretch, by way. */
  readonly #costs: readonly [number[], number[]] = [[], []];
  #timer: NodeJS.Timeout | undefined;

  start(): void {
    globalThis.offhookWay = 0;
    this.#settle();
  }

  /** Ends it. */
  stop(): WaysCompared | undefined {
    clearTimeout(this.#timer);
    globalThis.offhookWay = undefined;
    return compareWays(...this.#costs);
  }

  #settle(): void {
    this.#timer = setTimeout(() => this.#measure(), SETTLE_MS);
  }

  #measure(): void {
    const before = process.cpuUsage();
    const fromMs = performance.now();
    this.#timer = setTimeout(() => {
      const { user, system } = process.cpuUsage(before);
      const way = globalThis.offhookWay ?? 0;
      this.#costs[way].push((user + system) / 1000 / (performance.now() - fromMs));
      globalThis.offhookWay = way === 0 ? 1 : 0;
      this.#settle();
    }, STRETCH_MS);
  }
}

/**
 * @param first,second what stretches cost, of each way in turn, the first way first
 * @returns each stretch of the second beside the two around it; undefined with fewer than two of those
 */
export function compareWays(first: readonly number[], second: readonly number[]): WaysCompared | undefined {
  const changes = second.slice(0, first.length - 1).map((cost, at) => (2 * cost) / (first[at]! + first[at + 1]!) - 1);
  if (changes.length < 2) return undefined;
  const n = changes.length;
  const change = changes.reduce((sum, one) => sum + one, 0) / n;
  const variance = changes.reduce((sum, one) => sum + (one - change) ** 2, 0) / (n - 1);
  return { n, change, error: Math.sqrt(variance / n) };
}
