import type { Clock } from '../kernel/clock.ts';
import { eitherSignal } from './either-signal.ts';
import { SpeechUnavailableError } from './errors.ts';

/**
 * Runs a task with a signal that aborts at the deadline or with one of the given ones. The task must heed its signal.
 * @throws SpeechUnavailableError as the reason of the signal when the deadline was what stopped it
 */
export async function withDeadline<Value>(
  clock: Clock,
  limitMs: number,
  outer: readonly (AbortSignal | undefined)[],
  task: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const expiry = new AbortController();
  const expired = new SpeechUnavailableError(`no answer within ${limitMs} ms`);
  const timer = clock.after(limitMs, () => expiry.abort(expired));
  using either = eitherSignal(...outer, expiry.signal);
  try {
    return await task(either.signal);
  } finally {
    timer.cancel();
  }
}
