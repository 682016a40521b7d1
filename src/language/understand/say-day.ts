import { type CalendarDay, daysBetween, WEEKDAYS, type Weekday, weekdayOf } from './calendar-day.ts';
import type { Language } from './language.ts';
import { MONTHS, ORDINALS } from './months.ts';
import { sayNumber } from './numbers.ts';
import { sayYear } from './say-year.ts';

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
  return language === 'hi' ? HINDI_NAMES[weekday] : weekday[0]!.toUpperCase() + weekday.slice(1);
}

/**
 * A day as people say it: `today`, a weekday for the coming six days, `next Tuesday` in the coming week, else with the
 * date (`Tuesday the thirteenth of January`), and with the year where the date comes before. Tomorrow is named by its
 * weekday: said back, that confirms more.
 */
export function sayDay(language: Language, day: CalendarDay, today: CalendarDay): string {
  const ahead = daysBetween(today, day);
  const name = sayWeekday(language, weekdayOf(day));
  if (ahead === 0) return language === 'hi' ? 'आज' : 'today';
  if (ahead > 0 && ahead < 7) return name;
  const untilMonday = (8 - WEEKDAYS.indexOf(weekdayOf(today))) % 7 || 7;
  if (ahead >= untilMonday && ahead < untilMonday + 7) return language === 'hi' ? `अगले ${name}` : `next ${name}`;
  const month = MONTHS[language][Number(day.slice(5, 7)) - 1]!;
  const date = Number(day.slice(8, 10));
  const year = Number(day.slice(0, 4));
  const comesBefore = `${year - 1}${day.slice(4)}` >= today;
  const inYear = comesBefore ? `${month} ${sayYear(language, year)}` : month;
  return language === 'hi' ? `${name} ${sayNumber('hi', date)} ${inYear}` : `${name} the ${ordinal(date)} of ${inYear}`;
}

/** `twenty first`. @param value 1 to 31 */
export function ordinal(value: number): string {
  if (value <= 12) return ORDINALS[value - 1]!;
  if (value < 20) return `${sayNumber('en', value)}th`;
  if (value % 10 === 0) return sayNumber('en', value).replace(/y$/, 'ieth');
  return `${sayNumber('en', value - (value % 10))} ${ORDINALS[(value % 10) - 1]!}`;
}
