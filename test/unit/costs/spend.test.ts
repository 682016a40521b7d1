import { expect, test } from 'vitest';
import { reachedSpend, spendDayOf } from '../../../src/costs/spend.ts';

const spend = new Map([
  ['clinic', 6_000_000],
  ['sales', 4_000_000],
]);

test.each([
  { note: 'without limits', limits: {}, reached: undefined },
  { note: 'below both', limits: { maximumPerDay: 11, ofBot: 7 }, reached: undefined },
  { note: "at the bot's", limits: { maximumPerDay: 10, ofBot: 6 }, reached: 'bot' },
  { note: 'at that of all', limits: { maximumPerDay: 10, ofBot: 7 }, reached: 'all' },
])('spending $note', ({ limits, reached }) => {
  expect(reachedSpend(spend, 'clinic', limits)?.of).toBe(reached);
});

test('a limit of 0 allows nothing', () => {
  expect(reachedSpend(new Map(), 'clinic', { ofBot: 0 })).toEqual({ of: 'bot', knownMicros: 0, mostMicros: 0 });
});

test('a day begins at midnight UTC', () => {
  expect(new Date(spendDayOf(Date.parse('2026-03-05T23:59:59Z'))).toISOString()).toBe('2026-03-05T00:00:00.000Z');
});
