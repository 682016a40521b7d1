import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** Processor time, waiting time and memory of a process, all its threads together, as the kernel counts them. */
export interface Usage {
  readonly atMs: number;
  readonly cpuMs: number;
  /** Time that the main thread was ready to run and had no processor, for whatever reason: also to threads of its own process. */
  readonly waitedMs: number;
  readonly rssKb: number;
}

export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const [, waitedNs = '0'] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
  const rssKb = Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  return { atMs: performance.now(), cpuMs: (ticks * 1000) / TICKS_A_SECOND, waitedMs: Number(waitedNs) / 1e6, rssKb };
}

/** Time that a processor was not idle since the machine started, stolen time included. */
export function busyMsOf(processor: number): number {
  const line = readFileSync('/proc/stat', 'latin1')
    .split('\n')
    .find((text) => text.startsWith(`cpu${processor} `));
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (line ?? '').split(' ').slice(1).map(Number);
  return ((user + nice + system + irq + softirq + steal) * 1000) / TICKS_A_SECOND;
}

/** Pins a process, all its threads, to one processor. @returns false where that cannot be done */
export function pin(pid: number, processor: number): boolean {
  try {
    execFileSync('taskset', ['-acp', String(processor), String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds on the machine's monotonic clock, which all its processes share, less those on this process's own. */
export function monotonicOffsetMs(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}
