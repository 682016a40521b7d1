import type { Language } from './language.ts';
import { HINDI_NUMBERS } from './hindi-numbers.ts';
import type { Found } from './tokens.ts';
import { tokenise } from './tokens.ts';

const ENGLISH_SMALL = [
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen',
  'eighteen nineteen',
]
  .join(' ')
  .split(' ');
const ENGLISH_TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

const ENGLISH_VALUES: ReadonlyMap<string, number> = new Map([
  ...ENGLISH_SMALL.map((word, value) => [word, value] as const),
  ...ENGLISH_TENS.map((word, tens) => [word, tens * 10] as const).slice(2),
  ['fourty', 40],
]);

/** English number words as Hindi speakers say and recognisers write them. */
const LOAN_WORDS = 'ज़ीरो वन टू थ्री फ़ोर फ़ाइव सिक्स सेवन एट नाइन टेन इलेवन ट्वेल्व'.split(' ');

const HINDI_VALUES: ReadonlyMap<string, number> = new Map([
  ...HINDI_NUMBERS.flatMap((spellings, value) => spellings.map((word) => [tokenise(word).join(' '), value] as const)),
  ...LOAN_WORDS.map((word, value) => [tokenise(word).join(' '), value] as const),
]);

/**
 * Reads a number from 0 to 99 that begins at `index`: figures of one or two digits, or words of either language.
 * English tens take their unit with them (`twenty five`).
 */
export function numberAt(tokens: readonly string[], index: number): Found<number> | undefined {
  const word = tokens[index];
  if (word === undefined) return undefined;
  if (/^\d{1,2}$/.test(word)) return { value: Number(word), from: index, to: index + 1 };
  const hindi = HINDI_VALUES.get(word);
  if (hindi !== undefined) return { value: hindi, from: index, to: index + 1 };
  const english = ENGLISH_VALUES.get(word);
  if (english === undefined) return undefined;
  const unit = english >= 20 ? ENGLISH_VALUES.get(tokens[index + 1] ?? '') : undefined;
  if (unit !== undefined && unit >= 1 && unit <= 9) return { value: english + unit, from: index, to: index + 2 };
  return { value: english, from: index, to: index + 1 };
}

/**
 * A number as it is said.
 * @param value a whole number, 0 to 99
 * @throws RangeError for anything else
 */
export function sayNumber(language: Language, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 99) throw new RangeError(`sayNumber takes 0 to 99, not ${value}`);
  if (language === 'hi') return HINDI_NUMBERS[value]![0]!;
  if (value < 20) return ENGLISH_SMALL[value]!;
  const tens = ENGLISH_TENS[Math.floor(value / 10)]!;
  return value % 10 === 0 ? tens : `${tens} ${ENGLISH_SMALL[value % 10]!}`;
}
