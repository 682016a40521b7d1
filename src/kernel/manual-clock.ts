import type { Clock, Timer } from './clock.ts';

interface Pending {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that only moves when told to; timers fire in due order, ties in the order they were set. */
export class ManualClock implements Clock {
  #nowMs: number;
  #wallOffsetMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = 0, wallAtStartMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
    this.#wallOffsetMs = wallAtStartMs - startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  /** Moves the wall clock alone, as an NTP step or a suspended machine would. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const pending: Pending = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Moves time forward by `byMs`, firing every timer that comes due on the way. */
  advance(byMs: number): void {
    const endMs = this.#nowMs + byMs;
    for (let next = this.#nextDue(endMs); next !== undefined; next = this.#nextDue(endMs)) {
      this.#pending.delete(next);
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = endMs;
  }

  #nextDue(endMs: number): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.atMs > endMs) continue;
      if (first === undefined || pending.atMs < first.atMs || (pending.atMs === first.atMs && pending.order < first.order)) {
        first = pending;
      }
    }
    return first;
  }
}
