import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';

/** The middle of some measurements, with the least and the most. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly n: number;
}

/** To a tenth; null when nothing was measured. */
export function spread(numbers: readonly number[]): Spread | null {
  if (numbers.length === 0) return null;
  const sorted = numbers.map((value) => Math.round(value * 10) / 10).sort((a, b) => a - b);
  return { median: sorted[(sorted.length - 1) >> 1]!, least: sorted[0]!, most: sorted.at(-1)!, n: sorted.length };
}

/** What every document says of where it was measured; a commit with changes that are not in it is `-dirty`. The load is that of the last minute: one process a processor is full. */
export function about(): { readonly machine: string; readonly commit: string; readonly load: number } {
  const [first] = cpus();
  return {
    machine: `${cpus().length} x ${first?.model ?? 'unknown'}, Node ${process.version}`,
    commit: execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { encoding: 'utf8' }).trim(),
    load: Math.round(10 * (loadavg()[0] ?? 0)) / 10,
  };
}
