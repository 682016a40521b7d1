import type { StimulusGate } from './stimulus-gate.ts';

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
