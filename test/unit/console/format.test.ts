import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clockText, exactClockText, formatOf } from '../../../src/console/parts/format.ts';

beforeEach(() => {
  vi.stubGlobal('navigator', { languages: ['en-GB', 'hi-IN'] });
  vi.useFakeTimers({ now: new Date(2026, 4, 20, 12) });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it.each([
  [0, '0 s'],
  [8, '0.008 s'],
  [42, '0.042 s'],
  [720, '0.72 s'],
  [997, '1.0 s'],
  [1_500, '1.5 s'],
  [8_787, '8.8 s'],
  [9_960, '10 s'],
  [59_700, '1 min'],
  [125_000, '2 min 5 s'],
  [3_600_000, '1 h'],
  [3_725_000, '1 h 2 min'],
  [90_000_000, '1 d 1 h'],
])('writes %i ms as one style of duration on every page: %s', (ms, text) => {
  expect(formatOf('en').duration(ms)).toBe(text);
});

it('writes durations in the reader’s language', () => {
  expect(formatOf('hi').duration(125_000)).toBe('2 मि. 5 से.');
});

it('groups numbers, and says less than one percent of a few', () => {
  const { number, share } = formatOf('en');
  expect(number(12_345.6)).toBe('12,346');
  expect(number(1.25, 1)).toMatch(/^1\.[23]$/u);
  expect([share(1, 3), share(1, 1_000), share(0, 5), share(0, 0)]).toEqual(['33 %', '< 1 %', '0 %', '']);
});

describe('a moment', () => {
  const at = (...parts: [number, number, number, number, number, number]): string => new Date(...parts).toISOString();

  it('says its day where it is not today, and its year where it is not this one', () => {
    const { listedTime } = formatOf('en');
    expect(listedTime(at(2026, 4, 20, 9, 5, 7))).toBe('09:05');
    expect(listedTime(at(2026, 4, 20, 9, 5, 7), true)).toBe('09:05:07');
    expect(listedTime(at(2026, 2, 1, 9, 5, 7))).toBe('1 Mar, 09:05');
    expect(listedTime(at(2025, 2, 1, 9, 5, 7))).toBe('1 Mar 2025, 09:05');
  });

  it('says its time zone where it stands alone', () => {
    const { time, zone } = formatOf('en');
    expect(time(at(2026, 4, 20, 9, 5, 7))).toMatch(/^09:05 \S+$/u);
    expect(time(at(2025, 2, 1, 9, 5, 7))).toMatch(/^1 Mar 2025, 09:05 \S+$/u);
    expect(zone()).not.toBe('');
  });
});

it('writes places in a call as a clock does', () => {
  expect([clockText(7_400), clockText(760_000), clockText(3_723_000), clockText(-5)]).toEqual([
    '0:07',
    '12:40',
    '1:02:03',
    '0:00',
  ]);
  expect([exactClockText(62_345), exactClockText(-20)]).toEqual(['1:02.345', '−0:00.020']);
});
