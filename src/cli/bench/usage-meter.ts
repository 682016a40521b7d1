import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { measureLoopLag } from '../../observability/loop-lag.ts';

/** What a process used over a stretch of time. */
export interface Usage {
  /** Share of one processor, of all its threads; above 1 when they keep more than one busy. */
  readonly cpu: number;
  /** Share of the time in which its event loop was not waiting. */
  readonly loopBusy: number;
  /** 99th percentile of how late the event loop ran. */
  readonly loopP99Ms: number;
  readonly rssMb: number;
}

/** Begins a stretch. @returns what ends it and tells what it came to */
export function meterUsage(): () => Usage {
  const cpuBefore = process.cpuUsage();
  const loopBefore: EventLoopUtilization = performance.eventLoopUtilization();
  const lag = measureLoopLag();
  return () => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const loop = performance.eventLoopUtilization(loopBefore);
    const loopP99Ms = lag.takeP99Ms();
    lag[Symbol.dispose]();
    // Idle and active time of the loop are all the time there was.
    const cpu = (user + system) / 1_000 / (loop.idle + loop.active);
    return { cpu, loopBusy: loop.utilization, loopP99Ms, rssMb: process.memoryUsage.rss() / 1_048_576 };
  };
}

/** The value that this share of the values does not exceed; undefined when there are none. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
