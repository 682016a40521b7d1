import { numberAt, sayNumber } from './numbers.ts';
import { sayInteger } from './digits.ts';
import { type Found, phraseAt, phraseTable, tokenise, type Language } from './tokens.ts';
import { amountAt } from './amounts.ts';

/** A civil date without a time zone, `YYYY-MM-DD`. */
export type CalendarDay = `${number}-${number}-${number}`;

/** Sunday is 0, as in `Date`. */
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const DAY_MS = 86_400_000;

function noonOf(day: CalendarDay): number {
  return Date.parse(`${day}T12:00:00Z`);
}

/** @throws RangeError for a text that is not a calendar date (`2026-02-30`) */
export function calendarDay(text: string): CalendarDay {
  const parsed = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T12:00:00Z`) : undefined;
  if (parsed === undefined || Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== text) {
    throw new RangeError(`not a date: ${text.slice(0, 20)}`);
  }
  return text as CalendarDay; // checked just above
}

export function addDays(day: CalendarDay, days: number): CalendarDay {
  return calendarDay(new Date(noonOf(day) + days * DAY_MS).toISOString().slice(0, 10));
}

/** The same day of another month; undefined where that month does not have it. */
export function addMonths(day: CalendarDay, months: number): CalendarDay | undefined {
  const moved = new Date(noonOf(day));
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const text = moved.toISOString().slice(0, 10);
  return text.slice(8) === day.slice(8) ? calendarDay(text) : undefined;
}

/** Whole days from one date to another; negative when `to` lies before. */
export function daysBetween(from: CalendarDay, to: CalendarDay): number {
  return Math.round((noonOf(to) - noonOf(from)) / DAY_MS);
}

export function weekdayOf(day: CalendarDay): Weekday {
  return WEEKDAYS[new Date(noonOf(day)).getUTCDay()] ?? 'sunday';
}

/**
 * The date in a time zone.
 * @param wallMs milliseconds since the Unix epoch
 * @param timeZone IANA name, for example `Asia/Kolkata`
 * @throws RangeError for an unknown zone
 */
export function dayInZone(wallMs: number, timeZone: string): CalendarDay {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return calendarDay(format.format(wallMs));
}

/** A day that was said; the value is undefined when it is unclear which day is meant. */
export type NamedDay = Found<CalendarDay | undefined>;

/** January first. */
const MONTHS: Readonly<Record<Language, readonly string[]>> = {
  en: 'January February March April May June July August September October November December'.split(' '),
  hi: 'जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर'.split(' '),
};

const OTHERS: readonly (readonly string[])[] = [
  ['jan', 'जान्युअरी'],
  ['feb', 'फरवरी', 'फेब्रुअरी', 'फेब'],
  ['mar', 'मारच'],
  ['apr', 'एप्रिल'],
  ['मे'],
  ['jun'],
  ['jul'],
  ['aug', 'ऑगस्ट'],
  ['sep', 'sept', 'सितम्बर', 'सेप्टेंबर'],
  ['oct', 'अक्तूबर', 'ऑक्टोबर'],
  ['nov', 'नवम्बर', 'नोवेंबर'],
  ['dec', 'दिसम्बर', 'डिसेंबर'],
];

/** Month names, in full and short, to 1 to 12. */
export const MONTH_NAMES: ReadonlyMap<string, number> = phraseTable(
  OTHERS.map((others, index) => [index + 1, [monthName('en', index + 1), monthName('hi', index + 1), ...others]] as const),
);

/** @param month 1 to 12 */
function monthName(language: Language, month: number): string {
  return MONTHS[language][month - 1] ?? '';
}

/** `first` to `twelfth`; the ordinals above are made of these. */
const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split(' ');

const NAMED = phraseTable<Weekday>([
  ['monday', ['monday', 'mondays', 'mon', 'सोमवार', 'सोम', 'मंडे']],
  ['tuesday', ['tuesday', 'tuesdays', 'tue', 'tues', 'मंगलवार', 'मंगल', 'ट्यूज़डे']],
  ['wednesday', ['wednesday', 'wednesdays', 'wed', 'बुधवार', 'बुध', 'वेडनेसडे', 'वेन्ज़डे']],
  ['thursday', ['thursday', 'thursdays', 'thu', 'thur', 'thurs', 'गुरुवार', 'गुरूवार', 'बृहस्पतिवार', 'वीरवार', 'थर्सडे']],
  ['friday', ['friday', 'fridays', 'fri', 'शुक्रवार', 'शुक्र', 'फ़्राइडे']],
  ['saturday', ['saturday', 'saturdays', 'sat', 'शनिवार', 'शनिचर', 'सैटरडे']],
  ['sunday', ['sunday', 'sundays', 'रविवार', 'इतवार', 'संडे']],
]);

/** The weekday whose name stands at `index`. */
export function weekdayAt(tokens: readonly string[], index: number): Found<Weekday> | undefined {
  return phraseAt(tokens, index, NAMED);
}

/** A day of the month, and whether it was said as one (`fifth`, `5th`, `पाँच तारीख`) rather than as a number. */
interface DayNumber extends Found<number> {
  readonly asDay: boolean;
}

const ENGLISH = phraseTable<number>([
  ...ORDINALS.map((word, index) => [index + 1, [word]] as const),
  ...[13, 14, 15, 16, 17, 18, 19].map((value) => [value, [`${sayNumber('en', value)}th`]] as const),
  [20, ['twentieth']],
  [30, ['thirtieth']],
  ...[20, 30].flatMap((tens) =>
    ORDINALS.slice(0, 9).map((word, index) => [tens + index + 1, [`${sayNumber('en', tens)} ${word}`]] as const),
  ),
]);
const HINDI = phraseTable<number>([
  [1, ['पहली', 'पहला', 'पहले']],
  [2, ['दूसरी']],
  [3, ['तीसरी']],
  [4, ['चौथी']],
]);
const SUFFIX = new Set(['st', 'nd', 'rd', 'th']);
const DATE = new Set(tokenise('तारीख तारीख़ तारिख'));
const MOST = 31;

/** The day of a month whose words begin at `index`: `twenty first`, `21st`, `21`, `इक्कीस तारीख`, `पहली`. */
export function dayNumberAt(tokens: readonly string[], index: number): DayNumber | undefined {
  const ordinal = phraseAt(tokens, index, ENGLISH, 2) ?? phraseAt(tokens, index, HINDI, 1);
  if (ordinal !== undefined && ordinal.value <= MOST) {
    return { ...ordinal, asDay: true, to: DATE.has(tokens[ordinal.to] ?? '') ? ordinal.to + 1 : ordinal.to };
  }
  const number = numberAt(tokens, index);
  if (number === undefined || number.value < 1 || number.value > MOST) return undefined;
  const next = tokens[number.to] ?? '';
  const marked = SUFFIX.has(next) || DATE.has(next);
  return { ...number, asDay: marked, to: marked ? number.to + 1 : number.to };
}

export type Tense = 'past' | 'future';

const PAST = new Set(
  tokenise(
    'yesterday ago last was were had did बीते बीता बीती पिछले पिछला पिछली गुज़रे गुज़रा था थी थे गया गयी गई गए हुआ हुई हुए आया आयी आई आए किया की थी मिला मिली लिया दिया बीत चुका चुकी चुके',
  ),
);
const FUTURE = new Set(
  tokenise('tomorrow will next coming shall आने आनेवाले अगले अगला अगली आगामी होगा होगी होंगे चाहिए सकता सकती सकते चाहता चाहती'),
);
/** Endings of Hindi verbs that look ahead: आऊँगा, करेंगे, मिलेगी. */
const AHEAD = /(?:ूंगा|ूंगी|ऊंगा|ऊंगी|एगा|एगी|ेगा|ेगी|ेंगे|ेंगी|एंगे|एंगी|ोगे|ोगी|िएगा)$/u;

/** The tense of an utterance, by its verbs and adverbs; undefined without one, or with both. */
export function tenseOf(tokens: readonly string[]): Tense | undefined {
  const past = tokens.some((token) => PAST.has(token));
  const future = tokens.some((token) => FUTURE.has(token) || AHEAD.test(token));
  if (past === future) return undefined;
  return past ? 'past' : 'future';
}

const OH = new Set(['oh', 'o', 'zero', ...tokenise('ज़ीरो')]);
const FIRST_YEAR = 1900;
const LAST_YEAR = 2099;

/**
 * The year whose words begin at `index`: `1984`, `nineteen eighty four`, `two thousand five`, `twenty oh six`,
 * `उन्नीस सौ चौरासी`, `दो हज़ार छब्बीस`, and two digits (`84`), which are the nearest year on the side of today that
 * the tense says.
 */
export function yearAt(tokens: readonly string[], index: number, thisYear: number, tense?: Tense): Found<number> | undefined {
  const figures = /^\d{4}$/.test(tokens[index] ?? '');
  if (figures) return possible({ value: Number(tokens[index]), from: index, to: index + 1 });
  const century = numberAt(tokens, index);
  if (century !== undefined && (century.value === 19 || century.value === 20)) {
    const oh = OH.has(tokens[century.to] ?? '');
    const rest = numberAt(tokens, oh ? century.to + 1 : century.to);
    if (rest !== undefined && oh === rest.value < 10)
      return { value: century.value * 100 + rest.value, from: index, to: rest.to };
  }
  const amount = amountAt(tokens, index);
  const whole = amount === undefined || amount.dangling || !Number.isInteger(amount.value) ? undefined : possible(amount);
  if (whole !== undefined) return { value: whole.value, from: index, to: whole.to };
  if (century === undefined || (century.to - index === 1 && /^\d$/.test(tokens[index] ?? ''))) return undefined;
  return { ...century, value: ofTwoDigits(century.value, thisYear, tense) };
}

function ofTwoDigits(value: number, thisYear: number, tense: Tense | undefined): number {
  const now = thisYear % 100;
  const century = thisYear - now;
  if (tense === 'future') return value >= now ? century + value : century + 100 + value;
  // A date of birth or of a bill: a year still to come in this century was in the last one.
  return tense === 'past'
    ? value <= now
      ? century + value
      : century - 100 + value
    : value <= now + 20
      ? century + value
      : century - 100 + value;
}

function possible(found: Found<number>): Found<number> | undefined {
  return found.value >= FIRST_YEAR && found.value <= LAST_YEAR ? found : undefined;
}

/** A date with its year as people say it: `the fifth of March twenty twenty six`, `पाँच मार्च दो हज़ार छब्बीस`. */
export function sayDate(language: Language, day: CalendarDay): string {
  const month = monthName(language, Number(day.slice(5, 7)));
  const date = Number(day.slice(8, 10));
  const year = sayYear(language, Number(day.slice(0, 4)));
  return language === 'hi' ? `${sayNumber('hi', date)} ${month} ${year}` : `the ${ordinal(date)} of ${month} ${year}`;
}

const HINDI_NAMES: Readonly<Record<Weekday, string>> = {
  sunday: 'रविवार',
  monday: 'सोमवार',
  tuesday: 'मंगलवार',
  wednesday: 'बुधवार',
  thursday: 'गुरुवार',
  friday: 'शुक्रवार',
  saturday: 'शनिवार',
};

export function sayWeekday(language: Language, weekday: Weekday): string {
  return language === 'hi' ? HINDI_NAMES[weekday] : weekday.charAt(0).toUpperCase() + weekday.slice(1);
}

/**
 * A day as people say it: `today`, a weekday for the coming six days, `next Tuesday` in the coming week, else with the
 * date (`Tuesday the thirteenth of January`), and with the year when the date comes earlier too. Tomorrow is named by its weekday,
 * which confirms more in a read-back.
 */
export function sayDay(language: Language, day: CalendarDay, today: CalendarDay): string {
  const ahead = daysBetween(today, day);
  const name = sayWeekday(language, weekdayOf(day));
  if (ahead === 0) return language === 'hi' ? 'आज' : 'today';
  if (ahead > 0 && ahead < 7) return name;
  const untilMonday = (8 - WEEKDAYS.indexOf(weekdayOf(today))) % 7 || 7;
  if (ahead >= untilMonday && ahead < untilMonday + 7) return language === 'hi' ? `अगले ${name}` : `next ${name}`;
  const month = monthName(language, Number(day.slice(5, 7)));
  const date = Number(day.slice(8, 10));
  const year = Number(day.slice(0, 4));
  const comesBefore = `${year - 1}${day.slice(4)}` >= today;
  const inYear = comesBefore ? `${month} ${sayYear(language, year)}` : month;
  return language === 'hi' ? `${name} ${sayNumber('hi', date)} ${inYear}` : `${name} the ${ordinal(date)} of ${inYear}`;
}

/** `twenty first`. @param value 1 to 31 */
function ordinal(value: number): string {
  if (value <= 12) return ORDINALS[value - 1] ?? '';
  if (value < 20) return `${sayNumber('en', value)}th`;
  if (value % 10 === 0) return sayNumber('en', value).replace(/y$/, 'ieth');
  return `${sayNumber('en', value - (value % 10))} ${ORDINALS[(value % 10) - 1] ?? ''}`;
}

/** `twenty twenty six`, `दो हज़ार छब्बीस`. @param year 1000 to 9999 */
function sayYear(language: Language, year: number): string {
  const century = Math.floor(year / 100);
  const rest = year % 100;
  const hundreds = century % 10 !== 0 && year < 2000;
  if (language === 'hi') {
    if (!hundreds) return sayInteger('hi', year);
    return rest === 0 ? `${sayNumber('hi', century)} सौ` : `${sayNumber('hi', century)} सौ ${sayNumber('hi', rest)}`;
  }
  if (century % 10 === 0 && rest < 10) return sayInteger('en', year);
  if (rest === 0) return `${sayNumber('en', century)} hundred`;
  return rest < 10
    ? `${sayNumber('en', century)} oh ${sayNumber('en', rest)}`
    : `${sayNumber('en', century)} ${sayNumber('en', rest)}`;
}
