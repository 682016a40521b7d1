/** What a rest is chosen by. */
interface RestRule {
  /** Fewer calls wait for nothing. */
  readonly leastCalls: number;
  /** From one read of all sockets to the next. */
  readonly restMs: number;
}

/**
 * Has reads wait for company: the event loop reads every socket at once, and then blocks the thread for the rest of `restMs`. Only
 * while `offhookWay` is 1 and there are calls enough.
 * @param calls live calls of the process
 */
export function restBetweenReads({ leastCalls, restMs }: RestRule, calls: () => number): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  let readMs = performance.now();
  const rest = (): void => {
    const isWanted = globalThis.offhookWay === 1 && calls() >= leastCalls;
    if (!isWanted) {
      setTimeout(rest, 20).unref();
      return;
    }
    const leftMs = restMs - (performance.now() - readMs);
    if (leftMs > 0.1) Atomics.wait(nobody, 0, 0, leftMs);
    readMs = performance.now();
    // Behind the next poll, which finds what has come meanwhile and waits for nothing more.
    setImmediate(rest);
  };
  setTimeout(rest, 20).unref();
}
