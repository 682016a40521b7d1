import type { CalendarDay } from './calendar-day.ts';
import type { Language } from './language.ts';
import { MONTHS } from './months.ts';
import { sayNumber } from './numbers.ts';
import { ordinal } from './say-day.ts';
import { sayInteger } from './say-integer.ts';

/** A date with its year as people say it: `the fifth of March twenty twenty six`, `पाँच मार्च दो हज़ार छब्बीस`. */
export function sayDate(language: Language, day: CalendarDay): string {
  const month = MONTHS[language][Number(day.slice(5, 7)) - 1]!;
  const date = Number(day.slice(8, 10));
  const year = sayYear(language, Number(day.slice(0, 4)));
  return language === 'hi' ? `${sayNumber('hi', date)} ${month} ${year}` : `the ${ordinal(date)} of ${month} ${year}`;
}

/** @param year 1000 to 9999 */
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
