import { ORDINALS } from './months.ts';
import { numberAt, sayNumber } from './numbers.ts';
import { type Found, phraseAt, phraseTable, tokenise } from './tokens.ts';

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
