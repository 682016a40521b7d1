import { addDays, addMonths, type CalendarDay } from './calendar-day.ts';
import { numberAt } from './numbers.ts';
import { type Found, phraseTable, tokenise } from './tokens.ts';

/** A day that is named; undefined where it cannot be told which one. */
export type NamedDay = Found<CalendarDay | undefined>;

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
/** One of it without a number, since articles are no words here: `a week from`. */
const SINGULAR = new Set(['day', 'week', 'fortnight', 'month', 'year']);
const NOT_ONE = new Set('next this last every each other past half few couple several all whole any and hundred'.split(' '));
/** Before a number: it is the end of a larger or a vague one (`two or three days from now`). */
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
 * A day that is counted from another one: `a week from Friday`, `two days before the fifth`, `in three days`, `two days
 * ago`, `तीन दिन बाद`, `शुक्रवार से दो दिन बाद`.
 * @param dayAt the day, not itself counted, whose words begin at an index
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

/** Whether a number or a unit ends before `index`, so that a `from` there counts (`a few weeks from`). */
export function countsBefore(tokens: readonly string[], index: number): boolean {
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
