import { addDays, type CalendarDay, WEEKDAYS, type Weekday, weekdayOf } from './calendar-day.ts';
import { countedDayAt, type NamedDay } from './counted-day.ts';
import { phraseAt, phraseTable, tokenise } from './tokens.ts';
import { weekdayAt } from './weekday.ts';
import { weekdayOfMonthAt } from './weekday-of-month.ts';

/** Days from today. Hindi कल and परसों also mean yesterday and the day before; a booking looks ahead, so they do here. */
const RELATIVE = phraseTable<number>([
  [0, ['today', 'tonight', 'this morning', 'this afternoon', 'this evening', 'आज']],
  [1, ['tomorrow', 'कल', 'आने वाले कल']],
  [2, ['day after tomorrow', 'overmorrow', 'परसों']],
]);

/** Before a weekday: the weeks that it lies behind this one. */
const WEEKS_BEFORE = phraseTable<number>([
  [1, ['next', 'next week', 'next week on', 'अगले', 'अगला', 'अगली', 'अगले हफ़्ते', 'अगले सप्ताह']],
  [2, ['week after next', 'week after next on']],
]);
/** The same behind it. */
const WEEKS_BEHIND = phraseTable<number>([
  [1, ['next week', 'of next week', 'in next week']],
  [2, ['week after next', 'of week after next']],
]);
const UNCLEAR = phraseTable<true>([[true, ['after next', 'week']]]);
/** The weekday before today. */
export const LAST_WEEK = new Set(['last', ...tokenise('पिछले पिछला पिछली बीते')]);

/**
 * The day whose words begin at `index`, whatever stands around them. A weekday's name alone is its next occurrence after
 * today; `next` (अगले) puts it into the week that begins on the coming Monday.
 */
export function dayAt(tokens: readonly string[], index: number, today: CalendarDay): NamedDay | undefined {
  const plainAt = (at: number) => plainDayAt(tokens, at, today);
  const counted = countedDayAt(tokens, index, today, plainAt);
  if (counted?.value !== undefined && counted.value < today) return undefined;
  return weekdayOfMonthAt(tokens, index, { today }) ?? counted ?? plainAt(index);
}

function plainDayAt(tokens: readonly string[], index: number, today: CalendarDay): NamedDay | undefined {
  const relative = phraseAt(tokens, index, RELATIVE);
  if (relative !== undefined) return { ...relative, value: addDays(today, relative.value) };
  if (LAST_WEEK.has(tokens[index] ?? '')) {
    const past = weekdayAt(tokens, index + 1);
    return past && { ...past, value: undefined, from: index };
  }
  const weeks = phraseAt(tokens, index, WEEKS_BEFORE);
  const named = weekdayAt(tokens, weeks?.to ?? index);
  if (named === undefined) return undefined;
  const behind = phraseAt(tokens, named.to, WEEKS_BEHIND);
  if (behind !== undefined) return { value: dayOfName(named.value, today, behind.value), from: index, to: behind.to };
  // Neither "Friday after next" nor "Friday week" is said alike everywhere.
  const unclear = phraseAt(tokens, named.to, UNCLEAR);
  if (unclear !== undefined) return { value: undefined, from: index, to: unclear.to };
  return { value: dayOfName(named.value, today, weeks?.value ?? 0), from: index, to: named.to };
}

function dayOfName(name: Weekday, today: CalendarDay, weeks: number): CalendarDay {
  const now = WEEKDAYS.indexOf(weekdayOf(today));
  const wanted = WEEKDAYS.indexOf(name);
  if (weeks === 0) return addDays(today, ((wanted - now + 6) % 7) + 1);
  const untilMonday = (8 - now) % 7 || 7;
  return addDays(today, untilMonday + ((wanted + 6) % 7) + 7 * (weeks - 1));
}
