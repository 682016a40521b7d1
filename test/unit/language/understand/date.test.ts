import { describe, expect, it } from 'vitest';
import { type DateOptions, dateWords, readDate } from '../../../../src/language/understand/date.ts';

const TUESDAY: DateOptions = { today: '2026-11-24', language: 'en' };

function read(text: string, options: DateOptions = TUESDAY): string {
  const reading = readDate(dateWords(text), options);
  return reading.kind === 'days' ? reading.days.join(' ') : reading.kind;
}

describe('a date', () => {
  it.each([
    ['a week from today', '2026-12-01'],
    ['two weeks from today', '2026-12-08'],
    ['a week from Friday', '2026-12-04'],
    ['two weeks from the fifth of January', '2027-01-19'],
    ['a month from today', '2026-12-24'],
    ['the day after tomorrow', '2026-11-26'],
    ['the last Friday of December', '2026-12-25'],
    ['first Monday in December', '2026-12-07'],
    ['the second Tuesday of January', '2027-01-12'],
    ['last Friday', '2026-11-20'],
    ['the twelfth of the fifth', '2027-05-12'],
    ['the 27th of next month', '2026-12-27'],
    ['next month on the fifth', '2026-12-05'],
    ['the 15th of last month', '2026-10-15'],
  ])('is counted from what "%s" names: %s', (text, day) => expect(read(text)).toBe(day));

  it('is before or after today as the question asks', () => {
    expect(read('the first Monday in November', { ...TUESDAY, tense: 'past' })).toBe('2026-11-02');
    expect(read('the last Friday of December', { ...TUESDAY, tense: 'past' })).toBe('2025-12-26');
    expect(read('the last Friday of December', { ...TUESDAY, year: true })).toBe('part');
  });

  it.each([
    ['the second', '2026-12-02'],
    ['the second of March', '2027-03-02'],
    ['March second', '2027-03-02'],
    ['second', 'nothing'],
    ['just a second', 'nothing'],
    ['give me a second, Friday', '2026-11-27'],
    ['first thing tomorrow', '2026-11-25'],
    ['first of all, Friday', '2026-11-27'],
    ['the first week', 'nothing'],
  ])('is told from what is merely counted: "%s" is %s', (text, day) => expect(read(text)).toBe(day));

  it.each([
    ['not Monday', 'nothing'],
    ['not Monday, Tuesday', '2026-12-01'],
    ['not the fifth, the sixth', '2026-12-06'],
    ['not Friday the 27th', 'nothing'],
    ['today, no, Friday', '2026-11-27'],
    ['the fifth, no, Monday', '2026-11-30'],
    ['Friday the 27th', '2026-11-27'],
    ['the 3rd of December, a Thursday', '2026-12-03'],
  ])('is the one that is meant: "%s" is %s', (text, day) => expect(read(text)).toBe(day));

  it.each([
    ['today or tomorrow', '2026-11-24 2026-11-25'],
    ['on the 2nd or 3rd', '2026-12-02 2026-12-03'],
    ['Monday or the first', '2026-11-30 2026-12-01'],
    ['the fifth or a few days from today', 'part'],
  ])('is not chosen for the caller: "%s" is %s', (text, days) => expect(read(text)).toBe(days));

  it.each([
    'before Friday',
    'after the fifth',
    'a few weeks from today',
    'a couple of weeks from the fifth',
    'the first Friday',
    'last week Monday',
    'Monday of last week',
    'the fifth Monday of February',
  ])('is not known from "%s" alone', (text) => expect(read(text)).toBe('part'));
});
