import type { Clock } from './clock.ts';

/**
 * Resolves after `delayMs` on the given clock.
 * @throws the signal's reason when it aborts first
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Waits for a promise that knows no signal, or that others await too; an abort ends only the wait.
 * @throws the signal's reason when it aborts first; else the promise's rejection
 */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Waits for a promise, for at most `withinMs`.
 * @returns the promise's value, or `late` after that time
 * @throws the promise's rejection in time; a later one is dropped
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

/** Lets concurrent callers share one run of a task; a failure is not remembered. */
export class SingleFlight<Value> {
  #running: Promise<Value> | undefined;

  run(task: () => Promise<Value>): Promise<Value> {
    this.#running ??= task().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
