import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { measureLoopLag } from '../../observability/loop-lag.ts';

/** Resources that a process used over a time. */
export interface Usage {
  /** CPU of all threads; 1 is one core. */
  readonly cpu: number;
  /** Share of time in which the event loop was busy. */
  readonly loopBusy: number;
  /** 99th percentile of how late the event loop ran. */
  readonly loopP99Ms: number;
  readonly rssMb: number;
}

/** Starts a measurement. @returns ends it and returns the usage */
export function meterUsage(): () => Usage {
  const cpuBefore = process.cpuUsage();
  const loopBefore: EventLoopUtilization = performance.eventLoopUtilization();
  const lag = measureLoopLag();
  return () => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const loop = performance.eventLoopUtilization(loopBefore);
    const loopP99Ms = lag.takeP99Ms();
    lag[Symbol.dispose]();
    // The loop's idle and active time make the elapsed time.
    const cpu = (user + system) / 1_000 / (loop.idle + loop.active);
    return { cpu, loopBusy: loop.utilization, loopP99Ms, rssMb: process.memoryUsage.rss() / 1_048_576 };
  };
}

/** The value that this share of the values does not exceed; undefined when there are none. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
