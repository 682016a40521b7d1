// What every benchmark shares: its options, its document, and the figures in it.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';

type Defaults = Readonly<Record<string, string | boolean>>;
type Options<Given extends Defaults> = { readonly [Name in keyof Given]: Given[Name] extends boolean ? boolean : string };

/**
 * Reads `--NAME value` and `--NAME`, beside `--json`, which every benchmark takes.
 * @param defaults a text or false for each option
 * @throws TypeError for an unknown option
 */
export function readOptions<Given extends Defaults>(defaults: Given): Options<Given> {
  const options = Object.fromEntries(
    Object.entries({ ...defaults, json: false }).map(([name, value]) => [
      name,
      { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const), default: value },
    ]),
  );
  return parseArgs({ options }).values as Options<Given>;
}

/** Prints a benchmark's document with where it was measured: on one line with `--json`, else indented. */
export function printDocument(document: object): void {
  const indent = process.argv.includes('--json') ? 0 : 2;
  process.stdout.write(`${JSON.stringify({ ...about(), ...document }, null, indent)}\n`);
}

/** Where a document was measured. A commit with uncommitted changes is `-dirty`; the load is that of the last minute. */
export function about(): { readonly machine: string; readonly commit: string; readonly load: number } {
  const [first] = cpus();
  return {
    machine: `${cpus().length} x ${first?.model ?? 'unknown'}, Node ${process.version}`,
    commit: execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { encoding: 'utf8' }).trim(),
    load: round(loadavg()[0] ?? 0),
  };
}

export function round(value: number, digits = 1): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** The middle of some measurements, with the least and the most. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly n: number;
}

/** Null when nothing was measured. */
export function spread(numbers: readonly number[], digits = 1): Spread | null {
  if (numbers.length === 0) return null;
  const sorted = numbers.map((value) => round(value, digits)).sort((a, b) => a - b);
  return { median: sorted[(sorted.length - 1) >> 1]!, least: sorted[0]!, most: sorted.at(-1)!, n: sorted.length };
}

/** In the unit of the measurements; null where there was none. */
export interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly most: number | null;
  readonly n: number;
}

/** By nearest rank, to two digits. */
export function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number | null => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    return value === undefined ? null : round(value, 2);
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1), n: sorted.length };
}

/** A share of `n`, 0 to 1; null of none. */
export interface Rate {
  readonly n: number;
  readonly count: number;
  readonly rate: number | null;
  /** Bounds at 95 %, each one-sided (Clopper and Pearson): exact also where nothing was counted. */
  readonly lower95: number;
  readonly upper95: number;
}

export function rateOf(count: number, n: number): Rate {
  const bound = (counted: number): number => (n === 0 ? 1 : upperBound(counted, n));
  return {
    n,
    count,
    rate: n === 0 ? null : round(count / n, 5),
    lower95: round(1 - bound(n - count), 5),
    upper95: round(bound(count), 5),
  };
}

/** The share of `all` that `holds`. */
export function shareOf<Item>(all: readonly Item[], holds: (item: Item) => boolean): Rate {
  return rateOf(all.filter(holds).length, all.length);
}

/** The share at which seeing no more than `count` of `n` has a chance of 5 %. */
function upperBound(count: number, n: number): number {
  if (count >= n) return 1;
  let [low, high] = [count / n, 1];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (atMost(count, n, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/** Chance of at most `count` of `n` at this share each. */
function atMost(count: number, n: number, share: number): number {
  if (share >= 1) return 0;
  let term = n * Math.log1p(-share);
  let sum = Math.exp(term);
  for (let index = 1; index <= count; index += 1) {
    term += Math.log((n - index + 1) / index) + Math.log(share) - Math.log1p(-share);
    sum += Math.exp(term);
  }
  return sum;
}
