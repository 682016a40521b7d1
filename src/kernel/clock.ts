/** A pending timer; cancelling one that has fired is a no-op. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. Everything that waits or measures takes a clock as an argument, so that tests control time.
 * `nowMs` is monotonic with an arbitrary zero and sub-millisecond precision; `wallMs` is milliseconds since the Unix
 * epoch and may jump.
 */
export interface Clock {
  nowMs(): number;
  wallMs(): number;
  /** Calls `run` once after `delayMs` (0 or more). The timer does not keep the process alive; `stayAwake` does. */
  after(delayMs: number, run: () => void): Timer;
}

/** The process's own clock. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, run) {
    const handle = setTimeout(run, Math.max(0, delayMs));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/**
 * A clock whose wall time continues from this moment, even if the system's clock is changed: its time stamps stay in order, and
 * their distances true.
 */
export function steadyClock(clock: Clock): Clock {
  const offsetMs = clock.wallMs() - clock.nowMs();
  return {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.nowMs() + offsetMs,
    after: (delayMs, run) => clock.after(delayMs, run),
  };
}

/** Longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Keeps the process alive until it is disposed of. The clock's timers do not: a process with nothing else to do would exit in
 * the middle of a wait.
 */
export function keepAwake(): Disposable {
  const handle = setInterval(() => {}, NEVER_MS);
  return { [Symbol.dispose]: () => clearInterval(handle) };
}

/** Keeps the process alive until a promise settles. */
export async function stayAwake<Value>(promise: Promise<Value>): Promise<Value> {
  using _awake = keepAwake();
  return await promise;
}
