import { addDays, addMonths, type CalendarDay, WEEKDAYS, type Weekday, weekdayOf, type NamedDay, weekdayAt } from './calendar.ts';
import { numberAt } from './numbers.ts';
import { type Found, phraseTable, tokenise, phraseAt } from './tokens.ts';
import { weekdayOfMonthAt } from './weekday-of-month.ts';

/** Days from today. Hindi कल and परसों can also mean the past; a booking is in the future. */
const RELATIVE = phraseTable<number>([
  [0, ['today', 'tonight', 'this morning', 'this afternoon', 'this evening', 'आज']],
  [1, ['tomorrow', 'कल', 'आने वाले कल']],
  [2, ['day after tomorrow', 'overmorrow', 'परसों']],
]);

/** Words before a weekday that move it by weeks. */
const WEEKS_BEFORE = phraseTable<number>([
  [1, ['next', 'next week', 'next week on', 'अगले', 'अगला', 'अगली', 'अगले हफ़्ते', 'अगले सप्ताह']],
  [2, ['week after next', 'week after next on']],
]);
/** Words after a weekday that move it by weeks. */
const WEEKS_BEHIND = phraseTable<number>([
  [1, ['next week', 'of next week', 'in next week']],
  [2, ['week after next', 'of week after next']],
]);
const UNCLEAR = phraseTable<true>([[true, ['after next', 'week']]]);
/** Words before a weekday that put it in the past. */
export const LAST_WEEK = new Set(['last', ...tokenise('पिछले पिछला पिछली बीते')]);

/**
 * The day whose words begin at `index`. A weekday alone is its next occurrence after today; `next` (अगले) moves it into the week that
 * begins on the coming Monday.
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
  // "Friday after next" and "Friday week" have different meanings in different places.
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

interface Span {
  readonly unit: 'days' | 'months';
  readonly count: number;
}

const UNITS = phraseTable<Span>([
  [{ unit: 'days', count: 1 }, ['day', 'days', 'दिन']],
  [{ unit: 'days', count: 7 }, ['week', 'weeks', 'हफ़्ते', 'हफ़्ता', 'हफ़्तों', 'सप्ताह']],
  [{ unit: 'days', count: 14 }, ['fortnight', 'fortnights']],
  [{ unit: 'months', count: 1 }, ['month', 'months', 'महीने', 'महीना', 'महीनों']],
  [{ unit: 'months', count: 12 }, ['year', 'years', 'साल']],
]);
/** Units that mean one without a number, since articles are dropped: `a week from`. */
const SINGULAR = new Set(['day', 'week', 'fortnight', 'month', 'year']);
const NOT_ONE = new Set('next this last every each other past half few couple several all whole any and hundred'.split(' '));
/** Words before a number that make it a part of a larger or vague one (`two or three days from now`). */
const MORE = new Set(['and', 'or', 'hundred', 'thousand', 'point', ...tokenise('सौ या')]);
const JOINS: ReadonlyMap<string, 1 | -1> = new Map([
  ['from', 1],
  ['after', 1],
  ['before', -1],
]);
const SIDES = phraseTable<1 | -1>([
  [1, ['बाद', 'में']],
  [-1, ['ago', 'पहले']],
]);
const FROM = new Set(tokenise('से के'));
const THIS = new Set(['this', 'coming']);

/**
 * A day counted from another one: `a week from Friday`, `two days before the fifth`, `in three days`, `two days
 * ago`, `तीन दिन बाद`, `शुक्रवार से दो दिन बाद`.
 * @param dayAt reads an uncounted day at an index
 */
export function countedDayAt(
  tokens: readonly string[],
  index: number,
  today: CalendarDay,
  dayAt: (index: number) => NamedDay | undefined,
): NamedDay | undefined {
  const ahead = tokens[index] === 'in';
  const span = spanAt(tokens, ahead ? index + 1 : index);
  if (span === undefined) return countedBehind(tokens, index, dayAt);
  const join = JOINS.get(tokens[span.to] ?? '');
  const base = join === undefined ? undefined : baseAt(tokens, span.to + 1, today, dayAt);
  if (join !== undefined && base !== undefined) {
    return { value: moved(base.value, span.value, join), from: index, to: base.to };
  }
  // "In two months" is a month, not a day.
  if (span.value.unit === 'months') return undefined;
  if (ahead) return { value: moved(today, span.value, 1), from: index, to: span.to };
  const side = SIDES.get(tokens[span.to] ?? '');
  return side === undefined ? undefined : { value: moved(today, span.value, side), from: index, to: span.to + 1 };
}

/** Whether a number or a unit precedes `index`, so that a `from` there counts from a day (`a few weeks from`). */
function countsBefore(tokens: readonly string[], index: number): boolean {
  const word = tokens[index - 1] ?? '';
  return UNITS.has(word) || word === 'half' || numberAt(tokens, index - 1) !== undefined;
}

/** `शुक्रवार से दो दिन बाद`, `कल के दो दिन बाद`. */
function countedBehind(
  tokens: readonly string[],
  index: number,
  dayAt: (index: number) => NamedDay | undefined,
): NamedDay | undefined {
  const base = dayAt(index);
  const span = base !== undefined && FROM.has(tokens[base.to] ?? '') ? spanAt(tokens, base.to + 1) : undefined;
  const side = SIDES.get(tokens[span?.to ?? -1] ?? '');
  if (base === undefined || span === undefined || side === undefined) return undefined;
  return { value: moved(base.value, span.value, side), from: index, to: span.to + 1 };
}

function baseAt(
  tokens: readonly string[],
  index: number,
  today: CalendarDay,
  dayAt: (index: number) => NamedDay | undefined,
): NamedDay | undefined {
  if (tokens[index] === 'now') return { value: today, from: index, to: index + 1 };
  return THIS.has(tokens[index] ?? '') ? baseAt(tokens, index + 1, today, dayAt) : dayAt(index);
}

/** `Two weeks`, or `week` where that is one. */
function spanAt(tokens: readonly string[], index: number): Found<Span> | undefined {
  const number = numberAt(tokens, index);
  const at = number?.to ?? index;
  const word = tokens[at] ?? '';
  const each = UNITS.get(word);
  if (each === undefined) return undefined;
  const [before, next] = [tokens[index - 1] ?? '', tokens[at + 1] ?? ''];
  const whole =
    number === undefined
      ? SINGULAR.has(word) && (next === 'from' || (word === 'day' && JOINS.has(next))) && !NOT_ONE.has(before)
      : !MORE.has(before) && !(before === 'to' && numberAt(tokens, index - 2) !== undefined);
  return whole ? { value: { ...each, count: each.count * (number?.value ?? 1) }, from: index, to: at + 1 } : undefined;
}

function moved(day: CalendarDay | undefined, { unit, count }: Span, side: 1 | -1): CalendarDay | undefined {
  if (day === undefined) return undefined;
  return unit === 'days' ? addDays(day, count * side) : addMonths(day, count * side);
}

/** Words that name a day, `from` up to, not including, `to`. */
export interface DayWords {
  readonly from: number;
  readonly to: number;
  /** Named by its date. A weekday or `today` beside it adds nothing, unless it is a correction. */
  readonly dated?: boolean;
}

const NOT = new Set(tokenise("not except excluding than never can't cannot don't won't wouldn't isn't"));
/** `Any day but Friday`, `apart from Friday`, `instead of Friday`. */
const ALL_BUT = new Set(['anything but', 'any but', 'day but', 'days but', 'time but', 'apart from', 'aside from', 'instead of']);
/** Words between a negation and its day: `I can't come on Friday`. */
const LINKS = new Set('this coming on for to do be it i we you make come have take want need book available free'.split(' '));
/** Words after a day, and whether they negate it. */
const DENIALS = phraseTable<boolean>([
  [true, ['is not', "isn't", 'is no good', 'does not', "doesn't", 'will not', "won't", "wouldn't", 'would not']],
  [true, ['I cannot', "I can't", 'I can not', 'cannot', "can't", "I don't", 'I do not', "I won't", 'I will not']],
  [true, ['नहीं', 'नही', 'को नहीं', 'को नही', 'तो नहीं', 'मत', 'को मत', 'nahi', 'nahin', 'ko nahi', 'ko nahin']],
  [false, ["isn't it", 'is not it', "isn't a problem", 'is not a problem', "isn't bad", 'is not bad', "doesn't matter"]],
]);
const OR = new Set(tokenise('or या ya'));
/** Words between two alternatives, neither of which is the answer. */
const BOTH = new Set(['and', 'to', 'through', ...tokenise('और')]);
const CORRECTS = new Set(tokenise('no actually sorry rather instead wait mean better make नहीं नही nahi nahin सॉरी बल्कि'));
const WEEK = new Set(tokenise('week हफ़्ते सप्ताह'));
const LAST = new Set(tokenise('last पिछले'));
const AROUND = phraseTable<true>([
  [true, ['के बाद', 'से पहले', 'के पहले', 'ke baad', 'se pehle', 'last week', 'of last week', 'in last week']],
]);

/**
 * The days that are meant of those named: the last one, as in a correction (`Monday, no, Tuesday`), with its alternatives (`Monday or
 * Tuesday`), without negated ones (`not Monday`).
 */
export function meantDays<Day extends DayWords>(tokens: readonly string[], named: readonly Day[]): readonly Day[] {
  let meant: Day[] = [];
  let before: Day | undefined;
  let denied = false;
  for (const day of named) {
    const between = before === undefined ? [] : tokens.slice(before.to, day.from);
    const offered = before !== undefined && isOffered(between);
    // "Not Friday the fifth", "not Monday or Tuesday"
    const carriesOn = offered || (between.length === 0 && before?.dated !== true && day.dated === true);
    denied = (denied && carriesOn) || isDenied(tokens, day);
    before = day;
    if (denied) continue;
    if (offered) meant.push(day);
    else if (day.dated === true || !meant.some(({ dated }) => dated === true) || between.some(corrects)) meant = [day];
  }
  return meant;
}

/**
 * Whether a day only describes another one: `before Friday`, `a few weeks from today`, `शुक्रवार के बाद`,
 * `Friday of last week`.
 */
export function isVague(tokens: readonly string[], { from, to }: DayWords): boolean {
  const at = beforeLinks(tokens, from);
  const word = tokens[at] ?? '';
  if (word === 'before' || word === 'after' || word === 'weeks') return true;
  if (WEEK.has(word) && LAST.has(tokens[at - 1] ?? '')) return true;
  return (word === 'from' && countsBefore(tokens, at)) || phraseAt(tokens, to, AROUND, 3) !== undefined;
}

function isOffered(between: readonly string[]): boolean {
  const [word, ...others] = between;
  if (word !== undefined && others.length === 0 && BOTH.has(word)) return true;
  return between.some((word) => OR.has(word)) && !between.some(corrects);
}

function isDenied(tokens: readonly string[], { from, to }: DayWords): boolean {
  const at = beforeLinks(tokens, from);
  // "Why not Monday?" offers it.
  if (NOT.has(tokens[at] ?? '') && tokens[at - 1] !== 'why') return true;
  if (ALL_BUT.has(tokens.slice(Math.max(0, at - 1), at + 1).join(' '))) return true;
  return phraseAt(tokens, to, DENIALS)?.value === true;
}

function beforeLinks(tokens: readonly string[], from: number): number {
  let at = from - 1;
  while (LINKS.has(tokens[at] ?? '')) at--;
  return at;
}

function corrects(word: string): boolean {
  return CORRECTS.has(word);
}
