import type { SpokenTime } from './clock-time.ts';
import { numberAt } from './numbers.ts';
import type { Found } from './tokens.ts';

const PAST = new Set(['past', 'after', 'gone']);
const TO = new Set(['to', 'before', 'till', 'til']);
const OH = new Set(['oh', 'o', 'zero']);
/** What makes the number after it an hour, and one before it. */
const AT = new Set(['at', 'around', 'about', 'by']);
const OCLOCK = new Set(['oclock', 'clock', 'hours', 'am', 'pm']);

/**
 * The time whose words begin at `index`: `half past ten`, `quarter to nine`, `ten thirty`, `five past six`, `at three`,
 * `ten o'clock`, `noon`.
 * @param loose a number alone is an hour: the question was for a time, or a part of the day was named
 */
export function englishTimeAt(tokens: readonly string[], index: number, loose: boolean): Found<SpokenTime> | undefined {
  const word = tokens[index]!;
  if (word === 'noon' || word === 'midday') return { value: { hour: 12, minute: 0 }, from: index, to: index + 1 };
  if (word === 'midnight') return { value: { hour: 0, minute: 0 }, from: index, to: index + 1 };
  if (AT.has(word)) {
    const found = index + 1 < tokens.length ? englishTimeAt(tokens, index + 1, true) : undefined;
    return found === undefined ? undefined : { ...found, from: index };
  }
  return halfOrQuarter(tokens, index) ?? minutesAround(tokens, index) ?? hourAndMinutes(tokens, index, loose);
}

function halfOrQuarter(tokens: readonly string[], index: number): Found<SpokenTime> | undefined {
  const word = tokens[index]!;
  const relation = tokens[index + 1] ?? '';
  const after = hourAt(tokens, index + 2);
  if (word === 'half') {
    // British "half ten" is half past ten.
    const hour = PAST.has(relation) ? after : hourAt(tokens, index + 1);
    return hour === undefined ? undefined : timed(index, hour, 30);
  }
  if (word !== 'quarter' || after === undefined) return undefined;
  if (PAST.has(relation)) return timed(index, after, 15);
  return TO.has(relation) ? timed(index, after, -15) : undefined;
}

/** `twenty past ten`, `five minutes to nine` */
function minutesAround(tokens: readonly string[], index: number): Found<SpokenTime> | undefined {
  const minutes = numberAt(tokens, index);
  if (minutes === undefined || minutes.value < 1 || minutes.value > 29) return undefined;
  const at = tokens[minutes.to] === 'minutes' || tokens[minutes.to] === 'minute' ? minutes.to + 1 : minutes.to;
  const relation = tokens[at] ?? '';
  const hour = hourAt(tokens, at + 1);
  if (hour === undefined) return undefined;
  if (PAST.has(relation)) return timed(index, hour, minutes.value);
  return TO.has(relation) ? timed(index, hour, -minutes.value) : undefined;
}

/** `ten thirty`, `ten oh five`, `ten o'clock`, `ten` */
function hourAndMinutes(tokens: readonly string[], index: number, loose: boolean): Found<SpokenTime> | undefined {
  const hour = numberAt(tokens, index);
  if (hour === undefined || hour.value > 23) return undefined;
  const next = tokens[hour.to] ?? '';
  // "o'clock" arrives as one word or as two.
  if (next === 'o' && tokens[hour.to + 1] === 'clock') return timed(index, { ...hour, to: hour.to + 2 }, 0);
  if (OCLOCK.has(next)) return timed(index, { ...hour, to: hour.to + (next === 'am' || next === 'pm' ? 0 : 1) }, 0);
  if (OH.has(next)) {
    const minute = numberAt(tokens, hour.to + 1);
    if (minute !== undefined && minute.value < 10) return timed(index, { ...hour, to: minute.to }, minute.value);
  }
  const minute = numberAt(tokens, hour.to);
  if (minute !== undefined && minute.value >= 10 && minute.value < 60 && numberAt(tokens, minute.to) === undefined) {
    return timed(index, { ...hour, to: minute.to }, minute.value);
  }
  const more = minute !== undefined || numberAt(tokens, index - 1) !== undefined;
  return loose && !more && !/^(days?|minutes?|weeks?)$/.test(next) ? timed(index, hour, 0) : undefined;
}

function hourAt(tokens: readonly string[], index: number): Found<number> | undefined {
  const hour = numberAt(tokens, index);
  if (hour === undefined || hour.value > 23) return undefined;
  // "half past ten o'clock"
  return tokens[hour.to] === 'oclock' ? { ...hour, to: hour.to + 1 } : hour;
}

function timed(from: number, hour: Found<number>, minute: number): Found<SpokenTime> {
  return { value: { hour: hour.value, minute }, from, to: hour.to };
}
