/** A share of some, with the bounds between which the true one lies 95 times of 100. */
export interface Share {
  readonly k: number;
  readonly n: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Wilson's score interval. */
export function wilson(k: number, n: number): Share {
  if (n === 0) return { k, n, share: Number.NaN, low: 0, high: 1 };
  const z = 1.96;
  const share = k / n;
  const middle = share + (z * z) / (2 * n);
  const spread = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  const to4 = (value: number): number => Math.round(value * 10_000) / 10_000;
  return {
    k,
    n,
    share: to4(share),
    low: to4(Math.max(0, (middle - spread) / scale)),
    high: to4(Math.min(1, (middle + spread) / scale)),
  };
}
