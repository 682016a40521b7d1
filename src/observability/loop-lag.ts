import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Lag of the event loop. */
export interface LoopLag extends Disposable {
  /** The 99th percentile in ms since the last call of this, which resets it. */
  takeP99Ms(): number;
}

/** Sampling interval. A sample costs a microsecond and runs none of our code. */
const RESOLUTION_MS = 10;

/** Measures this thread's event loop until disposed. */
export function measureLoopLag(): LoopLag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return {
    takeP99Ms() {
      // The histogram has the time between two samples, their interval included; it is empty without a sample.
      const p99Ms = delay.count === 0 ? 0 : delay.percentile(99) / 1e6;
      delay.reset();
      return Math.max(0, p99Ms - RESOLUTION_MS);
    },
    [Symbol.dispose]: () => void delay.disable(),
  };
}
