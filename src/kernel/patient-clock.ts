import { type Clock, systemClock, type Timer } from './clock.ts';
import { ManualClock } from './manual-clock.ts';

export interface PatientClockOptions {
  /** How much faster than the machine's clock it goes at most; 6 when absent. */
  readonly times?: number;
  /** Longest single move, in ms; 5 when absent. */
  readonly mostStepMs?: number;
  /** Wall time of its start; now when absent. */
  readonly wallMs?: number;
}

/** A clock of its own for everything that takes part in a call. */
export interface PatientClock extends Disposable {
  readonly clock: Clock;
  /** Stops the clock until the promise settles: for work outside of the event loop, which another thread or process does. */
  hold<Value>(work: Promise<Value>): Promise<Value>;
}

/**
 * A clock for whole calls over real sockets in one process: it goes faster than the machine's, and waits where the event loop is busy. It
 * moves by a few milliseconds at most, and not before everything that arrived meanwhile was read, so that a slow machine makes a call
 * take longer and never makes it stutter.
 */
export function startPatientClock({
  times = 6,
  mostStepMs = 5,
  wallMs = systemClock.wallMs(),
}: PatientClockOptions = {}): PatientClock {
  const clock = new ManualClock(0, wallMs);
  let beforeMs = systemClock.nowMs();
  let timer: Timer | undefined;
  let over = false;
  let held = 0;
  const step = (): void => {
    if (over) return;
    const nowMs = systemClock.nowMs();
    if (held === 0) clock.advance(Math.min(mostStepMs, (nowMs - beforeMs) * times));
    beforeMs = nowMs;
    // Two turns of the event loop: what the timers sent has arrived, and what that caused has been sent.
    setImmediate(() => setImmediate(() => (timer = systemClock.after(1, step))));
  };
  timer = systemClock.after(1, step);
  return {
    // Whole milliseconds, as the machine's.
    clock: {
      nowMs: () => clock.nowMs(),
      wallMs: () => Math.floor(clock.wallMs()),
      after: (delayMs, run) => clock.after(delayMs, run),
    },
    async hold(work) {
      held += 1;
      try {
        return await work;
      } finally {
        held -= 1;
      }
    },
    [Symbol.dispose]: () => {
      over = true;
      timer?.cancel();
    },
  };
}
