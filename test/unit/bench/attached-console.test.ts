import { expect, it } from 'vitest';
import { type Client, costPercent, type Stretch } from '../../../bench/console/attached-console.ts';

const pair = (none: number, console: number, others = 0): ReadonlyMap<Client, Stretch> =>
  new Map([
    ['none', { usPerCallSecond: none, others: 0 }],
    ['console', { usPerCallSecond: console, others }],
  ]);

it('compares the stretches of each pair, and names the median, the least and the most', () => {
  const pairs = [pair(1000, 1010), pair(2000, 2100), pair(3000, 2940)];
  expect(costPercent(pairs, 'console')).toEqual({ median: 1, least: -2, most: 5, n: 3, trimmedMean: 1.3, plusMinus: null });
});

it('tells a cost of 2 % from none by many pairs of which single ones are wrong by 30 %', () => {
  // Quantiles of a normal distribution with a deviation of 6 %, and a few stretches that were disturbed.
  const noise = Array.from({ length: 48 }, (_, at) => 6 * Math.sqrt(2) * Math.log((at + 0.5) / (47.5 - at + 0.5)) * 0.42);
  const pairs = [...noise.map((percent) => pair(1000, 1020 + 10 * percent)), pair(1000, 1300), pair(1000, 1290)];
  const cost = costPercent(pairs, 'console');
  expect(cost?.n).toBe(50);
  expect(Math.abs((cost?.trimmedMean ?? 0) - 2)).toBeLessThan(0.5);
  expect(cost?.plusMinus).toBeGreaterThan(1);
  expect(cost?.plusMinus).toBeLessThan(2);
});

it('leaves out a pair that other work on the processor disturbed', () => {
  expect(costPercent([pair(1000, 1010), pair(1000, 2000, 0.06)], 'console')).toMatchObject({
    median: 1,
    least: 1,
    most: 1,
    n: 1,
  });
});

it('has no result without a valid pair, or without such a client', () => {
  expect(costPercent([pair(1000, 1010, 0.5)], 'console')).toBeNull();
  expect(costPercent([pair(1000, 1010)], 'listener')).toBeNull();
});
