import { numberAt, sayNumber } from './numbers.ts';
import { type Found, phraseAt, phraseTable, tokenise } from './tokens.ts';
import type { CalendarDay, Weekday } from './calendar-day.ts';
import type { Language } from './language.ts';

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
export function monthName(language: Language, month: number): string {
  return MONTHS[language][month - 1] ?? '';
}

/** `first` to `twelfth`; the ordinals above are made of these. */
export const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split(' ');

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
export interface DayNumber extends Found<number> {
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
