import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the event loop runs what is due. */
export interface LoopLag extends Disposable {
  /** The 99th percentile in ms since the last time this was asked, and begins anew. */
  takeP99Ms(): number;
}

/** How often the loop is looked at. Each look costs a microsecond and runs no code of ours. */
const RESOLUTION_MS = 10;

/** Measures the event loop of this thread until disposed of. */
export function measureLoopLag(): LoopLag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return {
    takeP99Ms() {
      // The histogram holds the time between two looks, the wait that was asked for included; without a look it holds nothing.
      const p99Ms = delay.count === 0 ? 0 : delay.percentile(99) / 1e6;
      delay.reset();
      return Math.max(0, p99Ms - RESOLUTION_MS);
    },
    [Symbol.dispose]: () => void delay.disable(),
  };
}
