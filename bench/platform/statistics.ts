export interface Summary {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** In the unit of the values, to a tenth. */
export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN) * 10) / 10;
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}
