import type { Clock, Timer } from '../../kernel/clock.ts';

interface Due {
  readonly atMs: number;
  readonly rank: number;
  readonly run: () => void;
  cancelled: boolean;
}

/**
 * Virtual time, which passes as fast as due work can be done. Of simultaneous tasks the lower rank goes first, then the earlier set; each one's
 * consequences, promises included, finish before the next.
 */
export class VirtualTime implements Clock {
  /** A binary heap with the earliest first. */
  readonly #heap: Due[] = [];
  readonly #wallOffsetMs: number;
  #nowMs: number;
  #unranked = 0;

  constructor(startMs: number, wallAtStartMs: number) {
    this.#nowMs = startMs;
    this.#wallOffsetMs = wallAtStartMs - startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  after(delayMs: number, run: () => void): Timer {
    return this.at(this.#nowMs + Math.max(0, delayMs), undefined, run);
  }

  /** @param rank order among simultaneous tasks; undefined for the last place */
  at(atMs: number, rank: number | undefined, run: () => void): Timer {
    this.#unranked += 1;
    const due: Due = { atMs: Math.max(atMs, this.#nowMs), rank: rank ?? BEHIND + this.#unranked, run, cancelled: false };
    this.#push(due);
    return { cancel: () => void (due.cancelled = true) };
  }

  /** Lets time pass until `done` holds or no task is due by `untilMs`. */
  async run(untilMs: number, done: () => boolean): Promise<void> {
    await settled();
    for (let due = this.#heap[0]; due !== undefined && due.atMs <= untilMs && !done(); due = this.#heap[0]) {
      this.#pop();
      if (due.cancelled) continue;
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.run();
      await settled();
    }
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(due, heap[parent])) break;
      heap[at] = heap[parent] ?? due;
      at = parent;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] ?? last, heap[child])) child += 1;
      if (!before(heap[child] ?? last, last)) break;
      heap[at] = heap[child] ?? last;
      at = child;
    }
    heap[at] = last;
  }
}

/** Rank after every entry of a fixture. */
const BEHIND = 1e9;

function before(a: Due, b: Due | undefined): boolean {
  return b === undefined || a.atMs < b.atMs || (a.atMs === b.atMs && a.rank < b.rank);
}

/** Waits until ready promises have run. */
async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
