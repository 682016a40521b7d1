import type { Clock } from '../../src/kernel/clock.ts';
import { ManualClock } from './manual-clock.ts';

export interface PatientClock extends Disposable {
  readonly clock: Clock;
}

/**
 * A clock for whole calls over real sockets in one process: it goes faster than the machine's, and waits where the event loop is busy. It
 * moves by a few milliseconds at most, and not before everything that arrived meanwhile was read, so that a slow machine makes a call
 * take longer and never makes it stutter.
 */
export function startPatientClock(times = 6, mostStepMs = 5): PatientClock {
  const clock = new ManualClock(0, Date.now());
  let beforeMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const step = (): void => {
    if (over) return;
    const nowMs = performance.now();
    clock.advance(Math.min(mostStepMs, (nowMs - beforeMs) * times));
    beforeMs = nowMs;
    // Two turns of the event loop: what the timers sent has arrived, and what that caused has been sent.
    setImmediate(() => setImmediate(() => (timer = setTimeout(step, 1))));
  };
  timer = setTimeout(step, 1);
  return {
    // Whole milliseconds, as the machine's.
    clock: {
      nowMs: () => clock.nowMs(),
      wallMs: () => Math.floor(clock.wallMs()),
      after: (delayMs, run) => clock.after(delayMs, run),
    },
    [Symbol.dispose]: () => {
      over = true;
      clearTimeout(timer);
    },
  };
}
