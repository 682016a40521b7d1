import type { Clock } from '../../kernel/clock.ts';

/**
 * Admits a call's inputs one at a time, each with its own moment: during it the call's clock stands still, in whole milliseconds, and all its
 * consequences, promises included, finish before the next. So a call's decisions depend only on order and times of its inputs, and a log of them is
 * enough for a replay.
 */
export class StimulusGate {
  readonly #clock: Clock;
  #nowMs: number;
  /** Consequences of an input may still be running. */
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#nowMs = Math.floor(clock.nowMs());
  }

  /** The moment of the last input. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /**
   * Admits an input that is a function call: at once, or after the one before.
   * @param act records and processes it; the clock already shows its moment
   */
  let(act: () => void): void {
    if (this.#busy) this.#waiting.push(() => this.#enter(act));
    else {
      this.#busy = true;
      setImmediate(() => this.#leave());
      this.#enter(act);
    }
  }

  /** Admits an input that is a promise's value: resolves after the one before. */
  pass(): Promise<void> {
    return new Promise((resolve) => this.let(resolve));
  }

  #enter(act: () => void): void {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(this.#clock.nowMs()));
    act();
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#busy = false;
      return;
    }
    setImmediate(() => this.#leave());
    next();
  }
}

/** Cause of an answer's part, and the time since it. */
export interface AnswerTiming {
  readonly tookMs: number;
  readonly by: 'asked' | 'abort';
}

export interface AnswerNotes<Part> {
  part(part: Part, timing: AnswerTiming): void;
  /** @param error undefined for a complete answer */
  end(timing: AnswerTiming, error: unknown): void;
  /** It was cancelled this long after the request. */
  aborted(afterMs: number): void;
}

/**
 * Streams an answer part by part through the gate, and records it. Leaving early does not wait for the source: how long it takes to stop is not part
 * of the call.
 */
export function recordAnswer<Part>(
  source: AsyncIterable<Part>,
  signal: AbortSignal,
  gate: StimulusGate,
  notes: AnswerNotes<Part>,
): AsyncIterable<Part> {
  const askedMs = gate.nowMs;
  let abortedMs: number | undefined;
  let over = false;
  const onAbort = (): void => {
    abortedMs ??= gate.nowMs;
    if (!over) notes.aborted(gate.nowMs - askedMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const timing = (): AnswerTiming =>
    abortedMs === undefined ? { tookMs: gate.nowMs - askedMs, by: 'asked' } : { tookMs: gate.nowMs - abortedMs, by: 'abort' };
  const finish = (): void => {
    over = true;
    signal.removeEventListener('abort', onAbort);
  };
  return {
    [Symbol.asyncIterator]() {
      const parts = source[Symbol.asyncIterator]();
      return {
        async next() {
          let result: IteratorResult<Part>;
          try {
            result = await parts.next();
          } catch (error) {
            await gate.pass();
            notes.end(timing(), error);
            finish();
            throw error;
          }
          await gate.pass();
          if (result.done === true) {
            notes.end(timing(), undefined);
            finish();
          } else notes.part(result.value, timing());
          return result;
        },
        async return() {
          finish();
          parts.return?.().catch(() => undefined);
          return { done: true, value: undefined };
        },
      };
    },
  };
}
