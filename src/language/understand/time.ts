import { numberAt, sayNumber } from './numbers.ts';
import { type Found, tokenise, phraseAt, phraseTable, type Language } from './tokens.ts';

/** A time of day on the 24-hour clock, `HH:MM`. */
export type ClockTime = `${number}:${number}`;

/** A part of the day, which decides an hour on the twelve-hour clock. */
export type DayPart = 'am' | 'pm' | 'morning' | 'afternoon' | 'evening' | 'night';

/** A time as spoken: the hour may be on the twelve-hour clock, minutes may be negative (`quarter to nine`). */
interface SpokenTime {
  readonly hour: number;
  readonly minute: number;
}

export interface TimeWindow {
  readonly from: ClockTime;
  readonly to: ClockTime;
}

/** Preferred hours when no part of the day is said: people call about the daytime. */
export const DAYTIME: TimeWindow = { from: '07:00', to: '18:59' };

const HALF_DAY = 720;
const MINUTES_A_DAY = 2 * HALF_DAY;

/** Minutes since midnight. */
export function minutesOf(time: ClockTime): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** @param minutes any whole number; wraps around midnight */
export function clockTime(minutes: number): ClockTime {
  const wrapped = ((minutes % MINUTES_A_DAY) + MINUTES_A_DAY) % MINUTES_A_DAY;
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  return `${twoDigits(Math.floor(wrapped / 60))}:${twoDigits(wrapped % 60)}` as ClockTime; // digits by construction
}

export function inWindow(time: ClockTime, window: TimeWindow): boolean {
  return minutesOf(time) >= minutesOf(window.from) && minutesOf(time) <= minutesOf(window.to);
}

/**
 * Resolves a spoken time. A part of the day decides; without one, `ten` is the one of 10:00 and 22:00 in the window, or in the daytime when both or
 * neither are. Hours above twelve are unambiguous.
 */
function meantTime(spoken: SpokenTime, part: DayPart | undefined, window: TimeWindow = DAYTIME): ClockTime {
  const { hour, minute } = spoken;
  if (hour > 12 || hour === 0) return clockTime(hour * 60 + minute);
  // "Quarter to twelve" is 11:45 of the same half of the day, so the wrap is at noon.
  const intoHalf = ((hour % 12) * 60 + minute + HALF_DAY) % HALF_DAY;
  const early = clockTime(intoHalf);
  const late = clockTime(intoHalf + HALF_DAY);
  if (part !== undefined) return isLate(part, Math.floor(intoHalf / 60)) ? late : early;
  const [first, second] = [early, late].filter((time) => inWindow(time, window));
  if (first !== undefined && second === undefined) return first;
  return inWindow(early, DAYTIME) ? early : late;
}

/** Whether an hour of 0 to 11 lies after noon, under this part of the day. */
function isLate(part: DayPart, hour: number): boolean {
  switch (part) {
    case 'am':
    case 'morning':
      return false;
    case 'pm':
      return true;
    case 'afternoon':
      return hour < 11;
    case 'evening':
      return hour !== 0;
    case 'night':
      return hour >= 5;
  }
}

interface TimeOptions {
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

/**
 * A time as people say it: `half past ten`, `quarter to nine`, `ten twenty`; `सुबह साढ़े दस बजे`.
 * @param withPart says the part of the day in English too (`half past ten in the morning`); Hindi always says it
 */
export function sayTime(language: Language, time: ClockTime, withPart = false): string {
  if (language === 'hi') return `${hindiPart(time)} ${hindiTime(time)}`;
  return withPart ? `${englishTime(time)} ${englishPart(time)}` : englishTime(time);
}

function englishTime(time: ClockTime): string {
  const hour = Math.floor(minutesOf(time) / 60);
  const minute = minutesOf(time) % 60;
  const name = (value: number): string => sayNumber('en', ((value + 11) % 12) + 1);
  if (minute === 0) return `${name(hour)} o'clock`;
  if (minute === 15) return `quarter past ${name(hour)}`;
  if (minute === 30) return `half past ${name(hour)}`;
  if (minute === 45) return `quarter to ${name(hour + 1)}`;
  return minute < 10 ? `${name(hour)} oh ${sayNumber('en', minute)}` : `${name(hour)} ${sayNumber('en', minute)}`;
}

function englishPart(time: ClockTime): string {
  const minutes = minutesOf(time);
  if (minutes < 12 * 60) return 'in the morning';
  if (minutes < 18 * 60) return 'in the afternoon';
  return minutes < 22 * 60 ? 'in the evening' : 'at night';
}

function hindiTime(time: ClockTime): string {
  const hour = Math.floor(minutesOf(time) / 60);
  const minute = minutesOf(time) % 60;
  const name = (value: number): string => sayNumber('hi', ((value + 11) % 12) + 1);
  if (minute === 0) return `${name(hour)} बजे`;
  if (minute === 15) return `सवा ${name(hour)} बजे`;
  if (minute === 45) return `पौने ${name(hour + 1)} बजे`;
  if (minute !== 30) return `${name(hour)} बजकर ${sayNumber('hi', minute)} मिनट`;
  if (hour % 12 === 1) return 'डेढ़ बजे';
  return hour % 12 === 2 ? 'ढाई बजे' : `साढ़े ${name(hour)} बजे`;
}

/** सुबह until noon, दोपहर until four, शाम until eight, then रात; before four in the morning it is still रात. */
function hindiPart(time: ClockTime): string {
  const minutes = minutesOf(time);
  if (minutes < 4 * 60) return 'रात';
  if (minutes < 12 * 60) return 'सुबह';
  if (minutes < 16 * 60) return 'दोपहर';
  return minutes < 20 * 60 ? 'शाम' : 'रात';
}
