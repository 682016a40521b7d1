import { expect, it } from 'vitest';
import { compareWays } from '../../../bench/capacity/two-ways.ts';

it('compares each stretch of the second way with those of the first around it, so that a machine that slows down changes nothing', () => {
  const compared = compareWays([100, 120, 140, 160], [99, 117, 135]);
  expect(compared).toEqual({ n: 3, change: expect.closeTo(-0.1, 10), error: expect.closeTo(0, 10) });
});

it('tells how sure that is', () => {
  expect(compareWays([1, 1, 1], [1.1, 1.3])).toEqual({ n: 2, change: expect.closeTo(0.2), error: expect.closeTo(0.1) });
});

it('says nothing of a single stretch', () => {
  expect(compareWays([1, 1], [2])).toBeUndefined();
  expect(compareWays([], [])).toBeUndefined();
});
