import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, calendarDay, dayInZone, weekdayOf } from '../../../../src/dialog/understand/calendar-day.ts';
import { findDay } from '../../../../src/dialog/understand/day.ts';
import { sayDay } from '../../../../src/dialog/understand/say-day.ts';
import { tokenise } from '../../../../src/dialog/understand/tokens.ts';

/** A Thursday. */
const TODAY = '2026-01-01';

describe('days', () => {
  it.each([
    ['today', '2026-01-01'],
    ['tonight', '2026-01-01'],
    ['tomorrow', '2026-01-02'],
    ['tomorrow morning please', '2026-01-02'],
    ['the day after tomorrow', '2026-01-03'],
    ['Friday', '2026-01-02'],
    ['on Saturday', '2026-01-03'],
    ['sunday', '2026-01-04'],
    ['Monday?', '2026-01-05'],
    ['on Tuesday at half past ten', '2026-01-06'],
    ['this Wednesday', '2026-01-07'],
    ['Thursday', '2026-01-08'],
    ['next Tuesday', '2026-01-06'],
    ['next Friday', '2026-01-09'],
    ['in three days', '2026-01-04'],
    ['Monday, no, Tuesday', '2026-01-06'],
    ['आज', '2026-01-01'],
    ['कल', '2026-01-02'],
    ['कल सुबह', '2026-01-02'],
    ['परसों', '2026-01-03'],
    ['शुक्रवार', '2026-01-02'],
    ['शनिवार को', '2026-01-03'],
    ['रविवार', '2026-01-04'],
    ['इतवार', '2026-01-04'],
    ['सोमवार', '2026-01-05'],
    ['मंगलवार सुबह साढ़े दस बजे', '2026-01-06'],
    ['मंगल को', '2026-01-06'],
    ['बुधवार', '2026-01-07'],
    ['गुरुवार', '2026-01-08'],
    ['बृहस्पतिवार', '2026-01-08'],
    ['अगले शुक्रवार', '2026-01-09'],
    ['तीन दिन बाद', '2026-01-04'],
    ['ट्यूज़डे', '2026-01-06'],
  ])('understands "%s" as %s', (text, day) => expect(findDay(tokenise(text), TODAY)?.value).toBe(day));

  it.each(['', 'half past ten', 'yes', 'in the morning', 'साढ़े दस बजे', 'दो दिन', 'blah blah'])('finds no day in "%s"', (text) => {
    expect(findDay(tokenise(text), TODAY)).toBeUndefined();
  });

  it.each([
    ['en', '2026-01-01', 'today'],
    ['en', '2026-01-02', 'Friday'],
    ['en', '2026-01-06', 'Tuesday'],
    ['en', '2026-01-08', 'next Thursday'],
    ['en', '2026-01-13', 'Tuesday the thirteenth of January'],
    ['en', '2026-02-21', 'Saturday the twenty first of February'],
    ['en', '2026-03-30', 'Monday the thirtieth of March'],
    ['hi', '2026-01-01', 'आज'],
    ['hi', '2026-01-06', 'मंगलवार'],
    ['hi', '2026-01-09', 'अगले शुक्रवार'],
    ['hi', '2026-01-26', 'सोमवार छब्बीस जनवरी'],
  ] as const)('says in %s %s as "%s"', (language, day, text) => expect(sayDay(language, day, TODAY)).toBe(text));

  it('reads back every day of the coming week that it says, whatever day it is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4000 }),
        fc.integer({ min: 0, max: 7 }),
        fc.constantFrom('en', 'hi'),
        (start, ahead, language) => {
          const today = addDays('2024-01-01', start);
          const day = addDays(today, ahead);
          expect(findDay(tokenise(sayDay(language, day, today)), today)?.value).toBe(day);
        },
      ),
    );
  });

  it('knows the date in a time zone', () => {
    const wallMs = Date.UTC(2026, 0, 1, 20, 0);
    expect(dayInZone(wallMs, 'UTC')).toBe('2026-01-01');
    expect(dayInZone(wallMs, 'Asia/Kolkata')).toBe('2026-01-02');
    expect(weekdayOf('2026-01-02')).toBe('friday');
  });

  it.each(['2026-02-30', '2026-1-1', 'tomorrow'])('refuses %s as a date', (text) =>
    expect(() => calendarDay(text)).toThrow(RangeError),
  );
});
