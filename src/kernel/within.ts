import { sleep } from './abort.ts';
import type { Clock } from './clock.ts';

/**
 * Waits for a promise, but no longer than `withinMs`.
 * @returns the promise's value, or `late` when the time is over first
 * @throws what the promise throws in time; later than that it is dropped
 */
export async function within<Value, Late>(
  clock: Clock,
  withinMs: number,
  promise: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  const done = new AbortController();
  const timeout = sleep(clock, withinMs, done.signal).then(
    () => late,
    () => late,
  );
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    done.abort();
  }
}
