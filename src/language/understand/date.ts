import {
  addDays,
  calendarDay,
  type CalendarDay,
  daysBetween,
  WEEKDAYS,
  weekdayOf,
  dayNumberAt,
  MONTH_NAMES,
  type NamedDay,
  weekdayAt,
  type Tense,
  tenseOf,
  yearAt,
} from './calendar.ts';
import { countedDayAt, dayAt, LAST_WEEK, type DayWords, isVague, meantDays } from './day.ts';
import { type Language, type Found, phraseAt, phraseTable, plainText, tokenise } from './tokens.ts';
import { numberAt } from './numbers.ts';
import { monthFromNowAt, onSide, weekdayOfMonthAt } from './weekday-of-month.ts';

export interface DateOptions {
  readonly today: CalendarDay;
  readonly language: Language;
  /** Which comes first in figures; Hindi speakers say the day first, English speakers either. */
  readonly order?: 'day-month' | 'month-day' | undefined;
  /** Whether the question is about the past or the future. */
  readonly tense?: Tense | undefined;
  /** The answer must have a year. */
  readonly year?: boolean | undefined;
}

/** `part`: the date is unfinished. `no-such-day`: not in the calendar. Several `days`: the caller has to choose. */
export type DateReading =
  | {
      readonly kind: 'days';
      readonly days: readonly [CalendarDay, ...CalendarDay[]];
      readonly mayGoOn: 'no' | 'unlikely' | 'likely';
    }
  | { readonly kind: 'part' }
  | { readonly kind: 'no-such-day' }
  | { readonly kind: 'nothing' };

/** Latest date of a booking. */
const MOST_YEARS_AHEAD = 10;
/** Names of months that are ordinary words too. */
const MAYBE_MONTHS = new Set(['may', 'march']);

const NOTHING: DateReading = { kind: 'nothing' };
const PART: DateReading = { kind: 'part' };

/** Words for days before or after today, decided by the tense. */
const EITHER_SIDE = phraseTable<number>([
  [1, ['कल', 'kal']],
  [2, ['परसों', 'parson', 'parso']],
]);
const SIDED = phraseTable<number>([
  [1, ['आने वाले कल', 'आने वाला कल', 'आनेवाला कल', 'आने वाली कल']],
  [2, ['आने वाले परसों']],
  [-1, ['yesterday', 'बीते कल', 'बीता कल', 'गुज़रा कल', 'गुज़रे कल']],
  [-2, ['day before yesterday', 'बीते परसों']],
  [0, ['आज', 'today', 'aaj']],
]);
const OF = new Set(['of', 'on', ...tokenise('की का के')]);
/** After these words an ordinal is not a day: `first thing tomorrow`, `first of all`, `the second week`. */
const COUNTED = new Set('thing things of available possible free time half week weekend appointment slot'.split(' '));

/**
 * The tokens of a date; dots, slashes and dashes separate numbers. Articles are dropped, so `the second` becomes `2nd`, unlike
 * `a second`.
 */
export function dateWords(text: string): string[] {
  return tokenise(
    plainText(text)
      .replaceAll(/(\d)[./-](?=\d)/g, '$1 ')
      .replaceAll(/\bthe second\b/gi, '2nd'),
  );
}

/**
 * The date that an utterance names: `the fifth of March`, `March 5th 2026`, `5/3/2026`, `पाँच मार्च उन्नीस सौ चौरासी`,
 * `tomorrow`, `last Monday`, `the fifth`, `the last Friday of March`. कल and परसों can be before or after today: the tense of the
 * question decides, then the verb; else both days are returned. Of several dates the last one counts, or all alternatives (`today
 * or tomorrow`). A relative day (`before Friday`) counts as unfinished.
 */
export function readDate(tokens: readonly string[], options: DateOptions): DateReading {
  const named: NamedDate[] = [];
  let begun = false;
  for (let index = 0; index < tokens.length;) {
    const found = dateAt(tokens, index, options);
    if (found?.value?.kind === 'part') begun = true;
    else if (found !== undefined) named.push(found);
    index = found?.to ?? index + 1;
  }
  const meant = meantDays(tokens, named);
  // "Friday the twenty": the date itself is still being said.
  if (begun && meant.every(({ near }) => near === true)) return PART;
  const [date, ...others] = meant.map(({ value }) => value);
  return meant.length === 0 ? NOTHING : (others.reduce(either, date) ?? PART);
}

/** A date in an utterance; its value is undefined when the day is unclear. */
interface NamedDate extends Found<DateReading | undefined>, DayWords {
  /** Named relative to today: `tomorrow`, `Friday`. */
  readonly near?: boolean;
}

function either(one: DateReading | undefined, other: DateReading | undefined): DateReading | undefined {
  if (one?.kind !== 'days' || other?.kind !== 'days') return undefined;
  return days([...new Set([...one.days, ...other.days])], other.mayGoOn);
}

function dateAt(tokens: readonly string[], index: number, options: DateOptions): NamedDate | undefined {
  const found =
    nthWeekdayAt(tokens, index, options) ??
    countedAt(tokens, index, options) ??
    relativeAt(tokens, index, options) ??
    monthOrFiguresAt(tokens, index, options) ??
    nearAt(tokens, index, options);
  return found !== undefined && isVague(tokens, found) ? { ...found, value: undefined } : found;
}

function nthWeekdayAt(tokens: readonly string[], index: number, options: DateOptions): NamedDate | undefined {
  const found = weekdayOfMonthAt(tokens, index, options);
  return found && { ...dateOf(found), dated: true };
}

function countedAt(tokens: readonly string[], index: number, options: DateOptions): NamedDate | undefined {
  const found = countedDayAt(tokens, index, options.today, (at) => {
    const base = relativeAt(tokens, at, options) ?? namedMonthAt(tokens, at, options) ?? nearAt(tokens, at, options);
    return (
      base && { ...base, value: base.value?.kind === 'days' && base.value.days.length === 1 ? base.value.days[0] : undefined }
    );
  });
  return found && dateOf(found);
}

function monthOrFiguresAt(tokens: readonly string[], index: number, options: DateOptions): NamedDate | undefined {
  const found = namedMonthAt(tokens, index, options) ?? figuresAt(tokens, index, options);
  return found && { ...found, dated: true };
}

/**
 * The next day with the month and day at `index`: `the fifth of March`, `March fifth`. Figures are not read: they may be a time.
 * @param alone whether the month may be missing
 * @returns the value undefined for a day that does not exist; undefined for no date, or an unfinished one
 */
export function monthDayAt(
  tokens: readonly string[],
  index: number,
  today: CalendarDay,
  alone: boolean,
): (NamedDay & DayWords) | undefined {
  const options: DateOptions = { today, language: 'en', tense: 'future' };
  const last = `${yearOf(today) + MOST_YEARS_AHEAD}`;
  let found = namedMonthAt(tokens, index, options);
  while (found?.value.kind === 'days' && found.value.days[0] >= last) {
    // In "December fifth, ten thirty" the last words are a time, not a year of the next century.
    found = namedMonthAt(tokens.slice(0, found.to - 1), index, options);
  }
  if (found === undefined || found.value.kind === 'part') return undefined;
  if (!alone && !tokens.slice(found.from, found.to).some((word) => MONTH_NAMES.has(word))) return undefined;
  const day = dayNumberAt(tokens, index);
  // "Ten may be fine" has no month, and the thirty of "ten thirty, December fifth" is not a day.
  const isDoubtful = MAYBE_MONTHS.has(tokens[day?.to ?? index] ?? '') || dayNumberAt(tokens, found.to)?.asDay === true;
  if (day?.asDay === false && isDoubtful) return undefined;
  const value = found.value.kind === 'days' ? found.value.days[0] : undefined;
  return { ...found, value: value !== undefined && value < today ? undefined : value, dated: true };
}

function nearAt(tokens: readonly string[], index: number, options: DateOptions): NamedDate | undefined {
  const found = options.tense === 'past' ? undefined : dayAt(tokens, index, options.today);
  return found && { ...dateOf(found), near: true };
}

function dateOf(found: NamedDay): NamedDate {
  return { ...found, value: found.value && days([found.value], 'unlikely') };
}

function relativeAt(tokens: readonly string[], index: number, options: DateOptions): Found<DateReading> | undefined {
  const { today } = options;
  const sided = phraseAt(tokens, index, SIDED);
  if (sided !== undefined) return { ...sided, value: days([addDays(today, sided.value)], 'unlikely') };
  const eitherSide = phraseAt(tokens, index, EITHER_SIDE);
  if (eitherSide !== undefined) {
    const tense = options.tense ?? tenseOf(tokens);
    const [before, ahead] = [addDays(today, -eitherSide.value), addDays(today, eitherSide.value)];
    const meant = tense === undefined ? [before, ahead] : [tense === 'past' ? before : ahead];
    return { ...eitherSide, value: days(meant, 'unlikely') };
  }
  const last = LAST_WEEK.has(tokens[index] ?? '');
  const named = weekdayAt(tokens, last ? index + 1 : index);
  if (named === undefined || !(last || options.tense === 'past')) return undefined;
  const back = (WEEKDAYS.indexOf(weekdayOf(today)) - WEEKDAYS.indexOf(named.value) + 6) % 7;
  return { value: days([addDays(today, -back - 1)], 'unlikely'), from: index, to: named.to };
}

function namedMonthAt(tokens: readonly string[], index: number, options: DateOptions): Found<DateReading> | undefined {
  const monthFirst = phraseAt(tokens, index, MONTH_NAMES, 1);
  if (monthFirst !== undefined) {
    const day = dayNumberAt(tokens, monthFirst.to);
    if (day === undefined) return { value: PART, from: index, to: monthFirst.to };
    return withYear(tokens, index, day.to, monthFirst.value, day.value, options);
  }
  const day = dayNumberAt(tokens, index);
  if (day === undefined) return undefined;
  const at = OF.has(tokens[day.to] ?? '') ? day.to + 1 : day.to;
  const month = phraseAt(tokens, at, MONTH_NAMES, 1) ?? (tokens[day.to] === 'of' ? monthNumberAt(tokens, at) : undefined);
  if (month !== undefined) return withYear(tokens, index, month.to, month.value, day.value, options);
  const fromNow = monthFromNowAt(tokens, at, options);
  if (fromNow !== undefined) return { value: dayIn(fromNow.value, day.value, options), from: index, to: fromNow.to };
  // Figures may follow: "5 3 2026"; a day said as one stands alone.
  if (!day.asDay || numberAt(tokens, day.to) !== undefined) return undefined;
  if (at > day.to && at === tokens.length) return { value: PART, from: index, to: at };
  const bareSecond = tokens[index] === 'second' && day.to === index + 1;
  if (bareSecond || COUNTED.has(tokens[day.to] ?? '')) return undefined;
  return { value: dayAlone(day.value, options), from: index, to: day.to };
}

/** `The twelfth of the fifth`. */
function monthNumberAt(tokens: readonly string[], index: number): Found<number> | undefined {
  const month = dayNumberAt(tokens, index);
  return month?.asDay === true && month.value <= 12 && !COUNTED.has(tokens[month.to] ?? '') ? month : undefined;
}

/** `5 3 2026`, `five three twenty twenty six`, `2026 3 5`. */
function figuresAt(tokens: readonly string[], index: number, options: DateOptions): Found<DateReading> | undefined {
  const iso = /^\d{4}$/.test(tokens[index] ?? '') ? yearAt(tokens, index, 0) : undefined;
  const first = numberAt(tokens, iso?.to ?? index);
  if (first === undefined || first.value < 1 || first.value > 31) return undefined;
  const second = numberAt(tokens, first.to);
  if (second === undefined) return { value: PART, from: index, to: first.to };
  if (iso !== undefined) return { value: oneDay(iso.value, first.value, second.value), from: index, to: second.to };
  if (second.value < 1 || second.value > 31) return undefined;
  const year = yearAt(tokens, second.to, yearOf(options.today), options.tense);
  if (year === undefined) {
    const { value } = withYear(tokens, index, second.to, second.value, first.value, options);
    // Two numbers are a date only when no year is required.
    return {
      value: value.kind === 'part' ? value : inOrders(first.value, second.value, undefined, options),
      from: index,
      to: second.to,
    };
  }
  return { value: inOrders(first.value, second.value, year.value, options), from: index, to: year.to };
}

function inOrders(first: number, second: number, year: number | undefined, options: DateOptions): DateReading {
  const order =
    first > 12
      ? 'day-month'
      : second > 12
        ? 'month-day'
        : (options.order ?? (options.language === 'hi' ? 'day-month' : undefined));
  const orders: readonly (readonly [number, number])[] =
    order === 'day-month'
      ? [[second, first]]
      : order === 'month-day'
        ? [[first, second]]
        : [
            [second, first],
            [first, second],
          ];
  const read = orders.map(([month, day]) => (year === undefined ? nearest(month, day, options) : oneDay(year, month, day)));
  const found = new Set(read.flatMap((reading) => (reading.kind === 'days' ? reading.days : [])));
  return days([...found], year === undefined ? 'likely' : 'no');
}

function withYear(
  tokens: readonly string[],
  from: number,
  at: number,
  month: number,
  day: number,
  options: DateOptions,
): Found<DateReading> {
  const spoken = tokens[at] === 'in' || tokens[at] === 'सन' ? at + 1 : at;
  const year = yearAt(tokens, spoken, yearOf(options.today), options.tense);
  if (year !== undefined) {
    // "Two thousand" and "nineteen" may still become another year.
    const open = year.value % 100 === 0 || (year.to - spoken === 1 && !/^\d{4}$/.test(tokens[spoken] ?? ''));
    const value = oneDay(year.value, month, day);
    const going = value.kind === 'days' && open && year.to === tokens.length ? days(value.days, 'likely') : value;
    return { value: going, from, to: year.to };
  }
  if (options.year === true) return { value: exists(month, day) ? PART : { kind: 'no-such-day' }, from, to: at };
  return { value: nearest(month, day, options), from, to: at };
}

/** The next such date, or the last one for a question about the past. */
function nearest(month: number, day: number, { today, tense }: DateOptions): DateReading {
  const step = tense === 'past' ? -1 : 1;
  // A 29 February may be eight years away.
  for (let year = yearOf(today), tries = 0; tries < 9; year += step, tries++) {
    const reading = oneDay(year, month, day);
    if (reading.kind === 'days' && daysBetween(today, reading.days[0]) * step >= 0) return days(reading.days, 'unlikely');
  }
  return { kind: 'no-such-day' };
}

/** `the fifth`: of this month or the next one that has it. */
function dayAlone(day: number, options: DateOptions): DateReading {
  if (options.year === true) return PART;
  const { today, tense } = options;
  const step = tense === 'past' ? -1 : 1;
  for (let ahead = 0; ahead < 62; ahead++) {
    const candidate = addDays(today, ahead * step);
    if (Number(candidate.slice(8)) === day) return days([candidate], 'likely');
  }
  return { kind: 'no-such-day' };
}

/** @param months first days of the months that may be meant, nearest first */
function dayIn(months: readonly CalendarDay[], day: number, options: DateOptions): DateReading {
  const found = months.map((first) => {
    const reading = oneDay(yearOf(first), Number(first.slice(5, 7)), day);
    return reading.kind === 'days' ? reading.days[0] : undefined;
  });
  const named = onSide(found, options);
  return named === undefined ? { kind: 'no-such-day' } : days([named], 'unlikely');
}

function oneDay(year: number, month: number, day: number): DateReading {
  try {
    const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
    return days([calendarDay(text)], 'no');
  } catch {
    return { kind: 'no-such-day' };
  }
}

function exists(month: number, day: number): boolean {
  return oneDay(2000, month, day).kind === 'days';
}

function yearOf(day: CalendarDay): number {
  return Number(day.slice(0, 4));
}

function days([first, ...others]: readonly CalendarDay[], mayGoOn: 'no' | 'unlikely' | 'likely'): DateReading {
  return first === undefined ? { kind: 'no-such-day' } : { kind: 'days', days: [first, ...others], mayGoOn };
}
