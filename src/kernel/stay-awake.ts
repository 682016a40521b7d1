/** Longest delay of a timer (2^31 - 1 ms), which here never comes to pass. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Keeps the process alive until it is disposed of. Timers of the clock do not: a process that has nothing else to do would
 * end in the middle of a wait, without a word.
 */
export function keepAwake(): Disposable {
  const handle = setInterval(() => {}, NEVER_MS);
  return { [Symbol.dispose]: () => clearInterval(handle) };
}

/** Keeps the process alive until a promise is settled. Whoever waits for something on behalf of a caller waits with this. */
export async function stayAwake<Value>(promise: Promise<Value>): Promise<Value> {
  using _awake = keepAwake();
  return await promise;
}
