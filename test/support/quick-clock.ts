import { type Clock, systemClock } from '../../src/kernel/clock.ts';

/** A clock that goes so many times as fast: the waits of a client over real sockets, in a fraction of their time. */
export function quickClock(times: number): Clock {
  return {
    nowMs: () => systemClock.nowMs() * times,
    wallMs: () => systemClock.wallMs(),
    after: (delayMs, run) => systemClock.after(delayMs / times, run),
  };
}
