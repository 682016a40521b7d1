/** Longest delay of a timer (2^31 - 1 ms), which here never comes to pass. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Keeps the process alive until a promise is settled. Timers of the clock do not: a process that has nothing else to do would
 * end in the middle of the wait, with exit code 13 and without a word.
 */
export async function stayAwake<Value>(promise: Promise<Value>): Promise<Value> {
  const handle = setInterval(() => {}, NEVER_MS);
  try {
    return await promise;
  } finally {
    clearInterval(handle);
  }
}
