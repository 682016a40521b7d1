import type { CalendarDay } from './calendar-day.ts';
import { monthDayAt } from './date.ts';
import { dayAt } from './day.ts';
import { type DayWords, isVague, meantDays } from './meant-days.ts';
import type { Found } from './tokens.ts';

interface Named extends Found<CalendarDay | undefined>, DayWords {}

/**
 * The day that an utterance names, in English or Hindi: `tomorrow`, `next Friday`, `a week from Monday`, `the fifth of March`.
 * Of several days the last one counts: people correct themselves forwards (`Monday, no, Tuesday`). Two that are offered
 * (`today or tomorrow`) are no day, and neither is one that is only near the one named (`before Friday`). A date lies ahead.
 * @param alone whether a date may be said without its month (`the fifth`), as an answer to `which day?` is
 */
export function findDay(tokens: readonly string[], today: CalendarDay, alone = false): Found<CalendarDay> | undefined {
  const named: Named[] = [];
  for (let index = 0; index < tokens.length;) {
    const found = dayAt(tokens, index, today) ?? monthDayAt(tokens, index, today, alone);
    if (found !== undefined) named.push(isVague(tokens, found) ? { ...found, value: undefined } : found);
    index = found?.to ?? index + 1;
  }
  const [day, ...others] = meantDays(tokens, named);
  if (day?.value === undefined || others.some(({ value }) => value !== day.value)) return undefined;
  return { value: day.value, from: day.from, to: day.to };
}
