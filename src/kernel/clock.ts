/** A pending timer; cancelling one that has fired is a no-op. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. Everything that waits or measures takes one as an argument, so that tests can turn it by hand.
 * `nowMs` is monotonic with an arbitrary zero and sub-millisecond precision; `wallMs` is milliseconds since the Unix
 * epoch and may jump.
 */
export interface Clock {
  nowMs(): number;
  wallMs(): number;
  /** Calls `run` once after `delayMs` (0 or more). The timer does not keep the process alive; a wait that somebody awaits does, by `stayAwake`. */
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
 * A clock for something that begins now: its wall time is that of this moment, carried on. However the system's clock is set
 * meanwhile, what it stamps stays in order and as far apart as it was.
 */
export function steadyClock(clock: Clock): Clock {
  const offsetMs = clock.wallMs() - clock.nowMs();
  return {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.nowMs() + offsetMs,
    after: (delayMs, run) => clock.after(delayMs, run),
  };
}
