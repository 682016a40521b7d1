import { expect, it } from 'vitest';
import { type Client, costPercent, type Stretch } from '../../../bench/console/attached-console.ts';

const pair = (none: number, console: number, others = 0): ReadonlyMap<Client, Stretch> =>
  new Map([
    ['none', { usPerCallSecond: none, others: 0 }],
    ['console', { usPerCallSecond: console, others }],
  ]);

it('compares the medians, and names the least and the most of the pairs', () => {
  const pairs = [pair(1000, 1010), pair(2000, 2100), pair(3000, 2940)];
  expect(costPercent(pairs, 'console')).toEqual({ median: 5, least: -2, most: 5, n: 3 });
});

it('leaves out a pair that other work on the processor disturbed', () => {
  expect(costPercent([pair(1000, 1010), pair(1000, 2000, 0.06)], 'console')).toEqual({ median: 1, least: 1, most: 1, n: 1 });
});

it('has no result without a valid pair, or without such a client', () => {
  expect(costPercent([pair(1000, 1010, 0.5)], 'console')).toBeNull();
  expect(costPercent([pair(1000, 1010)], 'listener')).toBeNull();
});
