import { addDays, type CalendarDay, WEEKDAYS, type Weekday, weekdayOf } from './calendar-day.ts';
import { numberAt } from './numbers.ts';
import { type Found, phraseAt, phraseTable } from './tokens.ts';

/** Days from today. Hindi कल and परसों also mean yesterday and the day before; a booking looks ahead, so they do here. */
const RELATIVE = phraseTable<number>([
  [0, ['today', 'tonight', 'this morning', 'this afternoon', 'this evening', 'आज']],
  [1, ['tomorrow', 'कल', 'आने वाले कल']],
  [2, ['day after tomorrow', 'overmorrow', 'परसों']],
]);

const NAMED = phraseTable<Weekday>([
  ['monday', ['monday', 'mondays', 'mon', 'सोमवार', 'सोम', 'मंडे']],
  ['tuesday', ['tuesday', 'tuesdays', 'tue', 'tues', 'मंगलवार', 'मंगल', 'ट्यूज़डे']],
  ['wednesday', ['wednesday', 'wednesdays', 'wed', 'बुधवार', 'बुध', 'वेडनेसडे', 'वेन्ज़डे']],
  ['thursday', ['thursday', 'thursdays', 'thu', 'thur', 'thurs', 'गुरुवार', 'गुरूवार', 'बृहस्पतिवार', 'वीरवार', 'थर्सडे']],
  ['friday', ['friday', 'fridays', 'fri', 'शुक्रवार', 'शुक्र', 'फ़्राइडे']],
  ['saturday', ['saturday', 'saturdays', 'sat', 'शनिवार', 'शनिचर', 'सैटरडे']],
  ['sunday', ['sunday', 'sundays', 'रविवार', 'इतवार', 'संडे']],
]);

const NEXT_WEEK = new Set(['next', 'अगले', 'अगला', 'अगली']);

/**
 * The day that an utterance names, in English or Hindi. A weekday's name alone is its next occurrence after today;
 * `next` (अगले) puts it into the week that begins on the coming Monday. Of several days the last one counts: people
 * correct themselves forwards (`Monday, no, Tuesday`).
 */
export function findDay(tokens: readonly string[], today: CalendarDay): Found<CalendarDay> | undefined {
  let last: Found<CalendarDay> | undefined;
  for (let index = 0; index < tokens.length;) {
    const found = dayAt(tokens, index, today);
    if (found === undefined) index++;
    else {
      last = found;
      index = found.to;
    }
  }
  return last;
}

/** The weekday whose name stands at `index`. */
export function weekdayAt(tokens: readonly string[], index: number): Found<Weekday> | undefined {
  return phraseAt(tokens, index, NAMED);
}

function dayAt(tokens: readonly string[], index: number, today: CalendarDay): Found<CalendarDay> | undefined {
  const relative = phraseAt(tokens, index, RELATIVE);
  if (relative !== undefined) return { ...relative, value: addDays(today, relative.value) };
  const inDays = daysCountedAt(tokens, index, today);
  if (inDays !== undefined) return inDays.value < today ? undefined : inDays;
  const next = NEXT_WEEK.has(tokens[index] ?? '');
  const named = weekdayAt(tokens, next ? index + 1 : index);
  if (named === undefined) return undefined;
  return { value: dayOfName(named.value, today, next), from: index, to: named.to };
}

function dayOfName(name: Weekday, today: CalendarDay, nextWeek: boolean): CalendarDay {
  const now = WEEKDAYS.indexOf(weekdayOf(today));
  const wanted = WEEKDAYS.indexOf(name);
  if (!nextWeek) return addDays(today, ((wanted - now + 6) % 7) + 1);
  const untilMonday = (8 - now) % 7 || 7;
  return addDays(today, untilMonday + ((wanted + 6) % 7));
}

/** `in three days`, `तीन दिन बाद`; `two days ago`, `दो दिन पहले`. */
export function daysCountedAt(tokens: readonly string[], index: number, today: CalendarDay): Found<CalendarDay> | undefined {
  const english = tokens[index] === 'in';
  const count = numberAt(tokens, english ? index + 1 : index);
  if (count === undefined) return undefined;
  const unit = tokens[count.to];
  const word = tokens[count.to + 1] ?? '';
  if (unit !== 'days' && unit !== 'day' && unit !== 'दिन') return undefined;
  if (english) return unit === 'दिन' ? undefined : { value: addDays(today, count.value), from: index, to: count.to + 1 };
  const to = count.to + 2;
  if (word === 'बाद' || word === 'में') return { value: addDays(today, count.value), from: index, to };
  return word === 'ago' || word === 'पहले' ? { value: addDays(today, -count.value), from: index, to } : undefined;
}
