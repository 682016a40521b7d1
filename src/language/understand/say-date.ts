import { type CalendarDay, daysBetween, WEEKDAYS, type Weekday, weekdayOf } from './calendar-day.ts';
import type { Language } from './language.ts';
import { monthName, ORDINALS } from './calendar-words.ts';
import { sayNumber } from './numbers.ts';
import { sayInteger } from './say-number.ts';

/** A date with its year as people say it: `the fifth of March twenty twenty six`, `पाँच मार्च दो हज़ार छब्बीस`. */
export function sayDate(language: Language, day: CalendarDay): string {
  const month = monthName(language, Number(day.slice(5, 7)));
  const date = Number(day.slice(8, 10));
  const year = sayYear(language, Number(day.slice(0, 4)));
  return language === 'hi' ? `${sayNumber('hi', date)} ${month} ${year}` : `the ${ordinal(date)} of ${month} ${year}`;
}

const HINDI_NAMES: Readonly<Record<Weekday, string>> = {
  sunday: 'रविवार',
  monday: 'सोमवार',
  tuesday: 'मंगलवार',
  wednesday: 'बुधवार',
  thursday: 'गुरुवार',
  friday: 'शुक्रवार',
  saturday: 'शनिवार',
};

export function sayWeekday(language: Language, weekday: Weekday): string {
  return language === 'hi' ? HINDI_NAMES[weekday] : weekday.charAt(0).toUpperCase() + weekday.slice(1);
}

/**
 * A day as people say it: `today`, a weekday for the coming six days, `next Tuesday` in the coming week, else with the
 * date (`Tuesday the thirteenth of January`), and with the year when the date comes earlier too. Tomorrow is named by its weekday,
 * which confirms more in a read-back.
 */
export function sayDay(language: Language, day: CalendarDay, today: CalendarDay): string {
  const ahead = daysBetween(today, day);
  const name = sayWeekday(language, weekdayOf(day));
  if (ahead === 0) return language === 'hi' ? 'आज' : 'today';
  if (ahead > 0 && ahead < 7) return name;
  const untilMonday = (8 - WEEKDAYS.indexOf(weekdayOf(today))) % 7 || 7;
  if (ahead >= untilMonday && ahead < untilMonday + 7) return language === 'hi' ? `अगले ${name}` : `next ${name}`;
  const month = monthName(language, Number(day.slice(5, 7)));
  const date = Number(day.slice(8, 10));
  const year = Number(day.slice(0, 4));
  const comesBefore = `${year - 1}${day.slice(4)}` >= today;
  const inYear = comesBefore ? `${month} ${sayYear(language, year)}` : month;
  return language === 'hi' ? `${name} ${sayNumber('hi', date)} ${inYear}` : `${name} the ${ordinal(date)} of ${inYear}`;
}

/** `twenty first`. @param value 1 to 31 */
export function ordinal(value: number): string {
  if (value <= 12) return ORDINALS[value - 1] ?? '';
  if (value < 20) return `${sayNumber('en', value)}th`;
  if (value % 10 === 0) return sayNumber('en', value).replace(/y$/, 'ieth');
  return `${sayNumber('en', value - (value % 10))} ${ORDINALS[(value % 10) - 1] ?? ''}`;
}

/** `twenty twenty six`, `दो हज़ार छब्बीस`. @param year 1000 to 9999 */
export function sayYear(language: Language, year: number): string {
  const century = Math.floor(year / 100);
  const rest = year % 100;
  const hundreds = century % 10 !== 0 && year < 2000;
  if (language === 'hi') {
    if (!hundreds) return sayInteger('hi', year);
    return rest === 0 ? `${sayNumber('hi', century)} सौ` : `${sayNumber('hi', century)} सौ ${sayNumber('hi', rest)}`;
  }
  if (century % 10 === 0 && rest < 10) return sayInteger('en', year);
  if (rest === 0) return `${sayNumber('en', century)} hundred`;
  return rest < 10
    ? `${sayNumber('en', century)} oh ${sayNumber('en', rest)}`
    : `${sayNumber('en', century)} ${sayNumber('en', rest)}`;
}
