import {
  addDays,
  addMonths,
  calendarDay,
  type CalendarDay,
  type Weekday,
  WEEKDAYS,
  weekdayOf,
  dayNumberAt,
  MONTH_NAMES,
  type NamedDay,
  weekdayAt,
  type Tense,
  yearAt,
} from './calendar.ts';
import { type Found, phraseAt, phraseTable, tokenise } from './tokens.ts';

export interface MonthOptions {
  readonly today: CalendarDay;
  /** Whether the question is about the past or the future. */
  readonly tense?: Tense | undefined;
  /** The answer must have a year. */
  readonly year?: boolean | undefined;
}

/** Number of a weekday in its month; 0 is the last one. */
const WHICH = phraseTable<number>([
  [0, ['last', 'final', 'आख़िरी', 'अंतिम']],
  [1, ['first', 'पहला', 'पहले', 'पहली']],
  [2, ['second', 'दूसरा', 'दूसरे', 'दूसरी']],
  [3, ['third', 'तीसरा', 'तीसरे', 'तीसरी']],
  [4, ['fourth', 'चौथा', 'चौथे', 'चौथी']],
  [5, ['fifth', 'पाँचवाँ', 'पाँचवें']],
]);
const MOST = 5;
const OF = new Set(['of', 'in']);
const OF_HINDI = new Set(tokenise('का के की में'));
/** Months from now that may be meant; for `the month` the nearest one. */
const FROM_NOW = phraseTable<readonly number[]>([
  [[0, 1], ['month']],
  [[0], ['this month', 'इस महीने']],
  [[1], ['next month', 'अगले महीने']],
  [[-1], ['last month', 'पिछले महीने']],
]);
/** Words before a `second` of time (`give me a second`). */
const WAIT = new Set(['give', 'one', 'just', 'wait', 'hold', 'in']);

/**
 * `The last Friday of December`, `first Monday in January 2027`, `दिसंबर का पहला सोमवार`, of the nearest such month on
 * the side that the question tells. Without a month it cannot be told which one is meant.
 */
export function weekdayOfMonthAt(tokens: readonly string[], index: number, options: MonthOptions): NamedDay | undefined {
  const before = monthAt(tokens, index, options);
  if (before !== undefined) {
    const named = OF_HINDI.has(tokens[before.to] ?? '') ? whichAt(tokens, before.to + 1) : undefined;
    return named && { value: nearest(before.value, named.value, options), from: index, to: named.to };
  }
  const named = whichAt(tokens, index);
  if (named === undefined) return undefined;
  const month = OF.has(tokens[named.to] ?? '') ? monthAt(tokens, named.to + 1, options) : undefined;
  if (month !== undefined) return { value: nearest(month.value, named.value, options), from: index, to: month.to };
  // "Last Friday" is another thing.
  return named.value.which === 0 ? undefined : { value: undefined, from: index, to: named.to };
}

/** The first days of the months that `this month`, `next month` or `the month` may be, nearest first. */
export function monthFromNowAt(
  tokens: readonly string[],
  index: number,
  { today, tense }: MonthOptions,
): Found<readonly CalendarDay[]> | undefined {
  const found = phraseAt(tokens, index, FROM_NOW, 2);
  if (found === undefined) return undefined;
  const first = calendarDay(`${today.slice(0, 8)}01`);
  const side = tense === 'past' && found.value.length > 1 ? -1 : 1;
  return { ...found, value: found.value.map((months) => firstOfMonth(first, months * side)) };
}

/** The nearest of several days in the past or the future, as the question asks. */
export function onSide(days: readonly (CalendarDay | undefined)[], { today, tense }: MonthOptions): CalendarDay | undefined {
  if (days.length === 1) return days[0];
  return days.find((day) => day !== undefined && (tense === 'past' ? day <= today : day >= today));
}

interface Which {
  readonly which: number;
  readonly weekday: Weekday;
}

function whichAt(tokens: readonly string[], index: number): Found<Which> | undefined {
  const marked = dayNumberAt(tokens, index);
  const which = phraseAt(tokens, index, WHICH, 1) ?? (marked?.asDay === true && marked.value <= MOST ? marked : undefined);
  const weekday = which === undefined ? undefined : weekdayAt(tokens, which.to);
  if (which === undefined || weekday === undefined) return undefined;
  if (tokens[index] === 'second' && WAIT.has(tokens[index - 1] ?? '')) return undefined;
  return { value: { which: which.value, weekday: weekday.value }, from: index, to: weekday.to };
}

/** The first days of the months that are named, nearest first. */
function monthAt(tokens: readonly string[], index: number, options: MonthOptions): Found<readonly CalendarDay[]> | undefined {
  const { today, tense } = options;
  const month = phraseAt(tokens, index, MONTH_NAMES, 1);
  if (month === undefined) return monthFromNowAt(tokens, index, options);
  const thisYear = Number(today.slice(0, 4));
  const year = yearAt(tokens, month.to, thisYear, tense);
  // A number alone may be an hour.
  const said = year !== undefined && (year.to - month.to > 1 || /^\d{4}$/.test(tokens[month.to] ?? '')) ? year : undefined;
  const years = said !== undefined ? [said.value] : [thisYear, thisYear + (tense === 'past' ? -1 : 1)];
  const firsts = years.map((at) => calendarDay(`${at}-${String(month.value).padStart(2, '0')}-01`));
  return { value: said === undefined && options.year === true ? [] : firsts, from: index, to: said?.to ?? month.to };
}

function nearest(months: readonly CalendarDay[], which: Which, options: MonthOptions): CalendarDay | undefined {
  return onSide(
    months.map((first) => weekdayIn(first, which)),
    options,
  );
}

/** Every month has a first day. */
function firstOfMonth(first: CalendarDay, months: number): CalendarDay {
  return addMonths(first, months) ?? first;
}

/** @param first the first day of the month */
function weekdayIn(first: CalendarDay, { which, weekday }: Which): CalendarDay | undefined {
  const wanted = WEEKDAYS.indexOf(weekday);
  if (which === 0) {
    const last = addDays(firstOfMonth(first, 1), -1);
    return addDays(last, -((WEEKDAYS.indexOf(weekdayOf(last)) - wanted + 7) % 7));
  }
  const day = addDays(first, ((wanted - WEEKDAYS.indexOf(weekdayOf(first)) + 7) % 7) + 7 * (which - 1));
  return day.slice(0, 7) === first.slice(0, 7) ? day : undefined;
}
