import type { SpokenTime } from './clock-time.ts';
import { numberAt } from './numbers.ts';
import { type Found, tokenise } from './tokens.ts';

const word = (text: string): string => tokenise(text)[0]!;
const words = (text: string): ReadonlySet<string> => new Set(tokenise(text));

/** Minutes added to the hour that follows: साढ़े दस 10:30, सवा दस 10:15, पौने ग्यारह 10:45. */
const FRACTIONS: ReadonlyMap<string, number> = new Map([
  [word('साढ़े'), 30],
  [word('साड़े'), 30],
  [word('सवा'), 15],
  [word('पौने'), -15],
]);
/** Half hours with a name of their own: डेढ़ 1:30, ढाई (अढ़ाई) 2:30; पौन is 12:45. */
const NAMED: ReadonlyMap<string, SpokenTime> = new Map([
  [word('डेढ़'), { hour: 1, minute: 30 }],
  [word('ढाई'), { hour: 2, minute: 30 }],
  [word('अढ़ाई'), { hour: 2, minute: 30 }],
]);
const STRUCK = words('बजे बजा');
const STRIKING = words('बजकर बजके');
const UNTIL = word('बजने');
const MINUTES = words('मिनट मिनिट');

/**
 * The time whose words begin at `index`: `साढ़े दस बजे`, `ढाई बजे`, `दस बजकर बीस मिनट`, `दस बजने में पाँच मिनट`, `दस बजे`.
 * @param loose बजे may be missing: the question was for a time, or a part of the day was named
 */
export function hindiTimeAt(tokens: readonly string[], index: number, loose: boolean): Found<SpokenTime> | undefined {
  const first = tokens[index]!;
  const named = NAMED.get(first);
  if (named !== undefined) return struck(tokens, { value: named, from: index, to: index + 1 }, loose);
  if (first === 'सवा' && STRUCK.has(tokens[index + 1] ?? '')) return timed(index, index + 2, 1, 15);
  if (first === 'पौन' && STRUCK.has(tokens[index + 1] ?? '')) return timed(index, index + 2, 1, -15);
  const fraction = FRACTIONS.get(first);
  const hour = numberAt(tokens, fraction === undefined ? index : index + 1);
  if (hour === undefined || hour.value > 23) return undefined;
  if (fraction !== undefined) return struck(tokens, timed(index, hour.to, hour.value, fraction), true);
  const next = tokens[hour.to] ?? '';
  if (STRUCK.has(next)) return timed(index, hour.to + 1, hour.value, 0);
  // "बज कर" and "बज के" in two words
  const after = STRIKING.has(next) ? hour.to + 1 : next === 'बज' ? hour.to + 2 : undefined;
  if (after !== undefined) return withMinutes(tokens, index, hour.value, after, 1);
  if (next === UNTIL) return withMinutes(tokens, index, hour.value, hour.to + 2, -1);
  return undefined;
}

function withMinutes(
  tokens: readonly string[],
  from: number,
  hour: number,
  at: number,
  sign: 1 | -1,
): Found<SpokenTime> | undefined {
  const minute = numberAt(tokens, at);
  if (minute === undefined || minute.value > 59) return undefined;
  const to = MINUTES.has(tokens[minute.to] ?? '') ? minute.to + 1 : minute.to;
  return timed(from, to, hour, sign * minute.value);
}

/** Takes a following बजे along; without one the time counts only where it may. */
function struck(tokens: readonly string[], found: Found<SpokenTime>, loose: boolean): Found<SpokenTime> | undefined {
  if (STRUCK.has(tokens[found.to] ?? '')) return { ...found, to: found.to + 1 };
  return loose ? found : undefined;
}

function timed(from: number, to: number, hour: number, minute: number): Found<SpokenTime> {
  return { value: { hour, minute }, from, to };
}
