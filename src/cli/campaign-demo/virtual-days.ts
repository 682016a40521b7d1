import type { Clock, Timer } from '../../kernel/clock.ts';

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * Days that pass as fast as what is due in them can be done, beside work in real time, such as a store's: no time passes while any of
 * it is under way.
 */
export class VirtualDays implements Clock {
  readonly #wallAtStartMs: number;
  readonly #timers = new Set<Due>();
  #nowMs = 0;
  #busy = 0;
  #onIdle: (() => void) | undefined;

  constructor(wallAtStartMs: number) {
    this.#wallAtStartMs = wallAtStartMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#wallAtStartMs + this.#nowMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const due = { atMs: this.#nowMs + Math.max(0, delayMs), run };
    this.#timers.add(due);
    return { cancel: () => void this.#timers.delete(due) };
  }

  /** Time stands still until this has settled. */
  async hold<Value>(work: Promise<Value>): Promise<Value> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
      if (this.#busy === 0) this.#onIdle?.();
    }
  }

  /** The same part, whose asynchronous methods hold the time. */
  holding<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(value, target, given);
          return answer instanceof Promise ? this.hold(answer) : answer;
        };
      },
    });
  }

  /** Resolves when nothing is under way but what waits for time to pass. */
  async quiet(): Promise<void> {
    // What one turn of the event loop finishes may begin something in the next.
    for (let turns = 0; turns < 3; turns += 1) {
      await nextTurn();
      if (this.#busy === 0) continue;
      await new Promise<void>((resolve) => (this.#onIdle = resolve));
      this.#onIdle = undefined;
      turns = -1;
    }
  }

  /** Lets time pass until the first timer is due. */
  async step(): Promise<void> {
    const first = Math.min(...[...this.#timers].map(({ atMs }) => atMs));
    if (first === Infinity) throw new Error('nothing is due any more');
    await this.leap(first);
  }

  /** It is this moment now: what was due on the way is done late, each thing once, as after a machine slept. */
  async leap(toMs: number): Promise<void> {
    this.#nowMs = Math.max(this.#nowMs, toMs);
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.#nowMs).sort((one, other) => one.atMs - other.atMs);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
    await this.quiet();
  }
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
