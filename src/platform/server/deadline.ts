import type { Clock } from '../../kernel/clock.ts';
import { Refusal } from './refusal.ts';

/**
 * Runs a task with a signal that aborts at the deadline or with the given one. The task must heed its signal.
 * @throws Refusal 504 when the deadline was what stopped it
 */
export async function withDeadline<Value>(
  clock: Clock,
  limitMs: number,
  outer: AbortSignal,
  task: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const expiry = new AbortController();
  const expired = new Refusal(504, `The request took longer than ${limitMs / 1000} s`);
  const timer = clock.after(limitMs, () => expiry.abort(expired));
  try {
    return await task(AbortSignal.any([outer, expiry.signal]));
  } catch (error) {
    throw expiry.signal.aborted ? expired : error;
  } finally {
    timer.cancel();
  }
}
