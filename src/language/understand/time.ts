import { type SpokenTime, type DayPart, type ClockTime, DAYTIME, meantTime, type TimeWindow } from './clock-time.ts';
import { numberAt } from './numbers.ts';
import { type Found, tokenise, phraseAt, phraseTable } from './tokens.ts';

export interface TimeOptions {
  /** Decides which `ten` is meant when nothing else does: opening hours, for example. */
  readonly window?: TimeWindow;
  /** A time was asked for, so a number alone is one (`ten`, `1030`). */
  readonly bare?: boolean;
}

/**
 * The time that an utterance names, in English or Hindi; of several the last one, as in a correction (`at ten, no, at eleven`).
 */
export function findTime(tokens: readonly string[], options: TimeOptions = {}): Found<ClockTime> | undefined {
  const part = findDayPart(tokens);
  let last: Found<SpokenTime> | undefined;
  for (let index = 0; index < tokens.length;) {
    const found = timeAt(tokens, index, options.bare === true, part !== undefined);
    if (found !== undefined) last = found;
    index = found?.to ?? index + 1;
  }
  if (last === undefined) return undefined;
  return { ...last, value: meantTime(last.value, part?.value, options.window ?? DAYTIME) };
}

/** A keyed time: `0930`, `930` or `15`; undefined for anything else. */
export function timeOfKeys(digits: string, window: TimeWindow = DAYTIME): ClockTime | undefined {
  const spoken = figures(digits);
  if (spoken === undefined) return undefined;
  // Four keys with a leading zero are on the 24-hour clock: 0130 is at night.
  return meantTime(spoken, digits.length === 4 && digits.startsWith('0') ? 'am' : undefined, window);
}

function timeAt(tokens: readonly string[], index: number, bare: boolean, partNamed: boolean): Found<SpokenTime> | undefined {
  const token = tokens[index] ?? '';
  const written = /^(\d{1,2}):(\d{2})$/.exec(token);
  if (written !== null) {
    const spoken = { hour: Number(written[1]), minute: Number(written[2]) };
    return spoken.hour < 24 && spoken.minute < 60 ? { value: spoken, from: index, to: index + 1 } : undefined;
  }
  const spoken = hindiTimeAt(tokens, index, bare || partNamed) ?? englishTimeAt(tokens, index, bare || partNamed);
  if (spoken !== undefined) return spoken;
  const keyed = bare && /^\d{3,4}$/.test(token) ? figures(token) : undefined;
  return keyed === undefined ? undefined : { value: keyed, from: index, to: index + 1 };
}

function figures(digits: string): SpokenTime | undefined {
  if (!/^\d{1,4}$/.test(digits)) return undefined;
  const hour = Number(digits.length <= 2 ? digits : digits.slice(0, -2));
  const minute = digits.length <= 2 ? 0 : Number(digits.slice(-2));
  return hour < 24 && minute < 60 ? { hour, minute } : undefined;
}

const PARTS = phraseTable<DayPart>([
  ['am', ['am', 'एएम']],
  ['pm', ['pm', 'पीएम']],
  ['morning', ['in the morning', 'morning', 'सुबह', 'सवेरे', 'सबेरे', 'सुबह सुबह']],
  ['afternoon', ['in the afternoon', 'afternoon', 'दोपहर', 'दोपहर में', 'दिन में', 'दोपहर को']],
  ['evening', ['in the evening', 'evening', 'शाम', 'शाम को', 'सायं']],
  ['night', ['at night', 'tonight', 'night', 'रात', 'रात को', 'रात में']],
]);

/** The part of the day that an utterance names, wherever it stands; the last of several. */
export function findDayPart(tokens: readonly string[]): Found<DayPart> | undefined {
  let last: Found<DayPart> | undefined;
  for (let index = 0; index < tokens.length;) {
    const found = phraseAt(tokens, index, PARTS);
    // The am in "I am" is not a part of the day; in "ten am" it is.
    const spare = found?.value === 'am' && !afterNumber(tokens, index);
    if (found !== undefined && !spare) last = found;
    index = found?.to ?? index + 1;
  }
  return last;
}

function afterNumber(tokens: readonly string[], index: number): boolean {
  return /^\d{1,2}:\d{2}$/.test(tokens[index - 1] ?? '') || numberAt(tokens, index - 1) !== undefined;
}

const PAST = new Set(['past', 'after', 'gone']);
const TO = new Set(['to', 'before', 'till', 'til']);
const OH = new Set(['oh', 'o', 'zero']);
/** Words before an hour, and after one. */
const AT = new Set(['at', 'around', 'about', 'by']);
const OCLOCK = new Set(['oclock', 'clock', 'hours', 'am', 'pm']);

/**
 * The time whose words begin at `index`: `half past ten`, `quarter to nine`, `ten thirty`, `five past six`, `at three`,
 * `ten o'clock`, `noon`.
 * @param loose a number alone is an hour: the question was for a time, or a part of the day was named
 */
function englishTimeAt(tokens: readonly string[], index: number, loose: boolean): Found<SpokenTime> | undefined {
  const word = tokens[index] ?? '';
  if (word === 'noon' || word === 'midday') return { value: { hour: 12, minute: 0 }, from: index, to: index + 1 };
  if (word === 'midnight') return { value: { hour: 0, minute: 0 }, from: index, to: index + 1 };
  if (AT.has(word)) {
    const found = index + 1 < tokens.length ? englishTimeAt(tokens, index + 1, true) : undefined;
    return found === undefined ? undefined : { ...found, from: index };
  }
  return halfOrQuarter(tokens, index) ?? minutesAround(tokens, index) ?? hourAndMinutes(tokens, index, loose);
}

function halfOrQuarter(tokens: readonly string[], index: number): Found<SpokenTime> | undefined {
  const word = tokens[index] ?? '';
  const relation = tokens[index + 1] ?? '';
  const after = hourAt(tokens, index + 2);
  if (word === 'half') {
    // British "half ten" is half past ten.
    const hour = PAST.has(relation) ? after : hourAt(tokens, index + 1);
    return hour === undefined ? undefined : timeOf(index, hour, 30);
  }
  if (word !== 'quarter' || after === undefined) return undefined;
  if (PAST.has(relation)) return timeOf(index, after, 15);
  return TO.has(relation) ? timeOf(index, after, -15) : undefined;
}

/** `twenty past ten`, `five minutes to nine` */
function minutesAround(tokens: readonly string[], index: number): Found<SpokenTime> | undefined {
  const minutes = numberAt(tokens, index);
  if (minutes === undefined || minutes.value < 1 || minutes.value > 29) return undefined;
  const at = tokens[minutes.to] === 'minutes' || tokens[minutes.to] === 'minute' ? minutes.to + 1 : minutes.to;
  const relation = tokens[at] ?? '';
  const hour = hourAt(tokens, at + 1);
  if (hour === undefined) return undefined;
  if (PAST.has(relation)) return timeOf(index, hour, minutes.value);
  return TO.has(relation) ? timeOf(index, hour, -minutes.value) : undefined;
}

/** `ten thirty`, `ten oh five`, `ten o'clock`, `ten` */
function hourAndMinutes(tokens: readonly string[], index: number, loose: boolean): Found<SpokenTime> | undefined {
  const hour = numberAt(tokens, index);
  if (hour === undefined || hour.value > 23) return undefined;
  const next = tokens[hour.to] ?? '';
  // "o'clock" arrives as one word or as two.
  if (next === 'o' && tokens[hour.to + 1] === 'clock') return timeOf(index, { ...hour, to: hour.to + 2 }, 0);
  if (OCLOCK.has(next)) return timeOf(index, { ...hour, to: hour.to + (next === 'am' || next === 'pm' ? 0 : 1) }, 0);
  if (OH.has(next)) {
    const minute = numberAt(tokens, hour.to + 1);
    if (minute !== undefined && minute.value < 10) return timeOf(index, { ...hour, to: minute.to }, minute.value);
  }
  const minute = numberAt(tokens, hour.to);
  if (minute !== undefined && minute.value >= 10 && minute.value < 60 && numberAt(tokens, minute.to) === undefined) {
    return timeOf(index, { ...hour, to: minute.to }, minute.value);
  }
  const more = minute !== undefined || numberAt(tokens, index - 1) !== undefined;
  return loose && !more && !/^(days?|minutes?|weeks?)$/.test(next) ? timeOf(index, hour, 0) : undefined;
}

function hourAt(tokens: readonly string[], index: number): Found<number> | undefined {
  const hour = numberAt(tokens, index);
  if (hour === undefined || hour.value > 23) return undefined;
  // "half past ten o'clock"
  return tokens[hour.to] === 'oclock' ? { ...hour, to: hour.to + 1 } : hour;
}

function timeOf(from: number, hour: Found<number>, minute: number): Found<SpokenTime> {
  return { value: { hour: hour.value, minute }, from, to: hour.to };
}

const word = (text: string): string => tokenise(text)[0] ?? '';
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
function hindiTimeAt(tokens: readonly string[], index: number, loose: boolean): Found<SpokenTime> | undefined {
  const first = tokens[index] ?? '';
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
