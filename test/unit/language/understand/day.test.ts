import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, calendarDay, dayInZone, weekdayOf, sayDay } from '../../../../src/language/understand/calendar.ts';
import { findDay } from '../../../../src/language/understand/find-day.ts';
import { tokenise } from '../../../../src/language/understand/tokens.ts';

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

  it.each([
    ['a week from today', '2026-01-08'],
    ['two weeks from tomorrow', '2026-01-16'],
    ['three days from now', '2026-01-04'],
    ['a week from Friday', '2026-01-09'],
    ['two weeks from this Monday', '2026-01-19'],
    ['a month from today', '2026-02-01'],
    ['the day after Friday', '2026-01-03'],
    ['two days before Wednesday', '2026-01-05'],
    ['शुक्रवार से दो दिन बाद', '2026-01-04'],
    ['कल के दो दिन बाद', '2026-01-04'],
  ])('counts "%s" from the day that is named, to %s', (text, day) => expect(findDay(tokenise(text), TODAY)?.value).toBe(day));

  it.each([
    ['the last Friday of December', '2026-12-25'],
    ['the first Monday in March', '2026-03-02'],
    ['the second Tuesday of January 2027', '2027-01-12'],
    ['the last Friday of this month', '2026-01-30'],
    ['the first Monday of next month', '2026-02-02'],
    ['दिसंबर का पहला सोमवार', '2026-12-07'],
  ])('finds "%s" in its month: %s', (text, day) => expect(findDay(tokenise(text), TODAY)?.value).toBe(day));

  it.each([
    ['the fifth of March', '2026-03-05'],
    ['March the fifth at half past ten', '2026-03-05'],
    ['on 3rd February in the morning', '2026-02-03'],
    ['Friday the sixth of March', '2026-03-06'],
    ['the twenty first of December 2027', '2027-12-21'],
    ['Monday, no, the fifth of March', '2026-03-05'],
    ['पाँच मार्च', '2026-03-05'],
    ['दो फ़रवरी को सुबह दस बजे', '2026-02-02'],
    ['december fifth ten thirty', '2026-12-05'],
    ['पाँच दिसंबर दस बजे', '2026-12-05'],
    ['five thirty on december fifth', '2026-12-05'],
    ['tomorrow at ten may be', '2026-01-02'],
    ['my first choice is monday', '2026-01-05'],
    ['this is my first visit, tomorrow please', '2026-01-02'],
  ])('finds the date "%s": %s', (text, day) => expect(findDay(tokenise(text), TODAY)?.value).toBe(day));

  it('reads a date without its month as the next such day when a day was asked for', () => {
    expect(findDay(tokenise('the fifth please'), TODAY, true)?.value).toBe('2026-01-05');
    expect(findDay(tokenise('पाँच तारीख को'), TODAY, true)?.value).toBe('2026-01-05');
    expect(findDay(tokenise('on the first would be good'), TODAY, true)?.value).toBe('2026-01-01');
    expect(findDay(tokenise('the fifth please'), TODAY)).toBeUndefined();
  });

  it.each(['the fifth floor', 'the first available', 'first let me check', 'the fifth or the sixth', 'पहले', 'सोमवार से पहले'])(
    'takes no ordinal for a day in "%s", whatever was asked',
    (text) => expect(findDay(tokenise(text), TODAY, true)).toBeUndefined(),
  );

  it('reads a day beside an ordinal', () => {
    expect(findDay(tokenise('सबसे पहले कल'), TODAY, true)?.value).toBe('2026-01-02');
    expect(findDay(tokenise('first, on Monday'), TODAY, true)?.value).toBe('2026-01-05');
  });

  it('adds no month to a day that the month lacks', () => {
    expect(findDay(tokenise('a month from today'), '2026-01-31')).toBeUndefined();
  });

  it.each([
    ['next week Friday', '2026-01-09'],
    ['Friday of next week', '2026-01-09'],
    ['the week after next on Friday', '2026-01-16'],
    ['अगले हफ़्ते शुक्रवार', '2026-01-09'],
  ])('understands the week of "%s": %s', (text, day) => expect(findDay(tokenise(text), TODAY)?.value).toBe(day));

  it.each([
    ['not Monday, Tuesday', '2026-01-06'],
    ['Tuesday, not Monday', '2026-01-06'],
    ["I can't come on Monday, Tuesday is fine", '2026-01-06'],
    ["Monday doesn't work, Tuesday", '2026-01-06'],
    ['instead of Monday, Tuesday', '2026-01-06'],
    ['why not Tuesday?', '2026-01-06'],
    ['Monday or, sorry, Tuesday', '2026-01-06'],
    ['give me a second, Tuesday', '2026-01-06'],
    ['सोमवार नहीं, मंगलवार', '2026-01-06'],
    ['मंगलवार, सोमवार को नहीं', '2026-01-06'],
  ])('takes the day that is meant in "%s"', (text, day) => expect(findDay(tokenise(text), TODAY)?.value).toBe(day));

  it.each([
    'not Monday',
    'not Monday or Tuesday',
    "I don't want to book Monday",
    'any day but Friday',
    'today is no good',
    'सोमवार नहीं',
    'today or tomorrow',
    'either Monday or Tuesday',
    'Monday and Tuesday',
    'आज या कल',
    'before Friday',
    'after Friday',
    'शुक्रवार के बाद',
    'a few weeks from today',
    'a week and a half from today',
    'two or three days from now',
    'a hundred and five days from today',
    'the first Monday',
    'the fifth Monday of February',
    'last Friday',
    'last week Friday',
    'Friday of last week',
    'पिछले हफ़्ते शुक्रवार',
    'the Friday after next',
    'Friday week',
    'the thirtieth of February',
    'before the fifth of March',
    'the fifth or the sixth of March',
    'पाँच या छह मार्च',
  ])('takes no day for certain from "%s"', (text) => expect(findDay(tokenise(text), TODAY)).toBeUndefined());

  it.each([
    '',
    'half past ten',
    'five thirty',
    'may I',
    'ten may be fine',
    'in March',
    'yes',
    'in the morning',
    'साढ़े दस बजे',
    'दो दिन',
    'blah blah',
  ])('finds no day in "%s"', (text) => {
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
    ['en', '2026-12-31', 'Thursday the thirty first of December'],
    ['en', '2027-01-01', 'Friday the first of January twenty twenty seven'],
    ['hi', '2026-01-01', 'आज'],
    ['hi', '2026-01-06', 'मंगलवार'],
    ['hi', '2026-01-09', 'अगले शुक्रवार'],
    ['hi', '2026-01-26', 'सोमवार छब्बीस जनवरी'],
  ] as const)('says in %s %s as "%s"', (language, day, text) => expect(sayDay(language, day, TODAY)).toBe(text));

  it('understands every future day that it speaks, on any day', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4000 }),
        fc.oneof(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 1500 })),
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
