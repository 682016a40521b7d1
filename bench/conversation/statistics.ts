export { summarise } from '../platform/statistics.ts';

interface Rate {
  readonly n: number;
  readonly count: number;
  /** Share of `n`, 0 to 1. */
  readonly rate: number;
  /** Upper bound of the share at 95 %, one-sided (Clopper and Pearson): exact also where nothing was counted. */
  readonly upper95: number;
}

export function rateOf(count: number, n: number): Rate {
  const upper95 = n === 0 ? 1 : round(upperBound(count, n));
  return { n, count, rate: n === 0 ? Number.NaN : round(count / n), upper95 };
}

function round(share: number): number {
  return Math.round(share * 1e5) / 1e5;
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

/** Events in a stretch of time, for each ten minutes of it, with the upper bound at 95 %, one-sided (Poisson, exact). */
export function per10Min(count: number, minutes: number): { rate: number; upper95: number; count: number; minutes: number } {
  let [low, high] = [count, count + 20 + 5 * Math.sqrt(count + 1)];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (poissonAtMost(count, middle) > 0.05) low = middle;
    else high = middle;
  }
  const tenth = (value: number): number => Math.round((100 * value * 10) / minutes) / 100;
  return { rate: tenth(count), upper95: tenth(high), count, minutes: Math.round(10 * minutes) / 10 };
}

function poissonAtMost(count: number, mean: number): number {
  let term = Math.exp(-mean);
  let sum = term;
  for (let index = 1; index <= count; index += 1) {
    term *= mean / index;
    sum += term;
  }
  return sum;
}
