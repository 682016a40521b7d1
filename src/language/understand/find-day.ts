import { type CalendarDay, dayNumberAt } from './calendar.ts';
import { monthDayAt } from './date.ts';
import { dayAt, type DayWords, isVague, meantDays } from './day.ts';
import { type Found, tokenise } from './tokens.ts';

interface Named extends Found<CalendarDay | undefined>, DayWords {}

const OR = new Set(['or', 'and', 'to', ...tokenise('या और ya')]);
/** Words that may accompany a date without its month. */
const POLITE = new Set(tokenise('on for it is would be please then maybe um uh okay ok yes fine good को के लिए पर कृपया जी'));
/** Hindi words that mean both `first` and `earlier`; the next word decides. */
const EARLIER = new Set(tokenise('पहले पहला'));

/**
 * The day that an utterance names, in English or Hindi: `tomorrow`, `next Friday`, `a week from Monday`, `the fifth of March`.
 * The last of several days counts, as in a correction (`Monday, no, Tuesday`). Alternatives (`today or tomorrow`) and relative
 * days (`before Friday`) are no day. Dates are in the future.
 * @param asked whether this answers `which day?`: then a date may lack its month, if nothing else is said (`the fifth`)
 */
export function findDay(tokens: readonly string[], today: CalendarDay, asked = false): Found<CalendarDay> | undefined {
  const named: Named[] = [];
  for (let index = 0; index < tokens.length;) {
    const found = dayAt(tokens, index, today) ?? monthDayAt(tokens, index, today, false);
    if (found !== undefined)
      named.push(isVague(tokens, found) || isOffered(tokens, found) ? { ...found, value: undefined } : found);
    index = found?.to ?? index + 1;
  }
  if (named.length === 0) return asked ? dateAlone(tokens, today) : undefined;
  const [day, ...others] = meantDays(tokens, named);
  if (day?.value === undefined || others.some(({ value }) => value !== day.value)) return undefined;
  return { value: day.value, from: day.from, to: day.to };
}

/** `The fifth or the sixth of March`: the day before the `or` has its month behind it. */
function isOffered(tokens: readonly string[], { from, dated }: Named): boolean {
  const before = from - 1;
  return (
    dated === true && OR.has(tokens[before] ?? '') && [1, 2].some((words) => dayNumberAt(tokens, before - words)?.to === before)
  );
}

function dateAlone(tokens: readonly string[], today: CalendarDay): Found<CalendarDay> | undefined {
  const at = tokens.findIndex((_, index) => dayNumberAt(tokens, index)?.asDay === true);
  const found = at < 0 ? undefined : monthDayAt(tokens, at, today, true);
  if (found?.value === undefined) return undefined;
  const { value, from, to } = found;
  const others = [...tokens.slice(0, from), ...tokens.slice(to)];
  const isEarlier = to === from + 1 && EARLIER.has(tokens[from] ?? '');
  return isEarlier || others.some((word) => !POLITE.has(word)) ? undefined : { value, from, to };
}
