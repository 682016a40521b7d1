import type { CalendarDay } from './calendar-day.ts';
import type { Language } from './language.ts';
import { MONTHS } from './months.ts';
import { sayNumber } from './numbers.ts';
import { ordinal } from './say-day.ts';
import { sayYear } from './say-year.ts';

/** A date with its year as people say it: `the fifth of March twenty twenty six`, `पाँच मार्च दो हज़ार छब्बीस`. */
export function sayDate(language: Language, day: CalendarDay): string {
  const month = MONTHS[language][Number(day.slice(5, 7)) - 1]!;
  const date = Number(day.slice(8, 10));
  const year = sayYear(language, Number(day.slice(0, 4)));
  return language === 'hi' ? `${sayNumber('hi', date)} ${month} ${year}` : `the ${ordinal(date)} of ${month} ${year}`;
}
