/** What most measurements stay below, in their own unit, and how many there were; null where there was none. */
export interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly n: number;
}

/** By nearest rank, to two digits. */
export function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number | null => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    return value === undefined ? null : round(value, 2);
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), n: sorted.length };
}

export function round(value: number, digits = 1): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
