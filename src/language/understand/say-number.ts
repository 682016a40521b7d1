import type { Language } from './language.ts';
import { sayNumber } from './numbers.ts';

/** Grouping of large numbers: lakh and crore, or thousand, million and billion. */
export type Scale = 'indian' | 'western';

const MOST = 1e12;

const STEPS: Readonly<Record<'en' | 'western' | 'hi', readonly (readonly [number, string])[]>> = {
  en: [
    [1e7, 'crore'],
    [1e5, 'lakh'],
    [1e3, 'thousand'],
    [100, 'hundred'],
  ],
  western: [
    [1e9, 'billion'],
    [1e6, 'million'],
    [1e3, 'thousand'],
    [100, 'hundred'],
  ],
  hi: [
    [1e7, 'करोड़'],
    [1e5, 'लाख'],
    [1e3, 'हज़ार'],
    [100, 'सौ'],
  ],
};

/**
 * A whole number as it is said: `एक लाख पच्चीस हज़ार`, `one hundred twenty five thousand`. Hindi is always cut by lakh.
 * @param value 0 to 999,999,999,999
 * @throws RangeError for anything else
 */
export function sayInteger(language: Language, value: number, scale: Scale = 'indian'): string {
  if (!Number.isInteger(value) || value < 0 || value >= MOST)
    throw new RangeError(`sayInteger takes 0 to ${MOST - 1}, not ${value}`);
  const steps = STEPS[language === 'hi' ? 'hi' : scale === 'western' ? 'western' : 'en'];
  const words: string[] = [];
  let rest = value;
  for (const [size, name] of steps) {
    const count = Math.floor(rest / size);
    if (count === 0) continue;
    words.push(sayInteger(language, count, scale), name);
    rest -= count * size;
  }
  if (rest > 0 || words.length === 0) words.push(sayNumber(language, rest));
  return words.join(' ');
}

/** Digits one by one, as a number is read out: `four two seven one`. Anything but digits is left out. */
export function sayDigits(language: Language, digits: string): string {
  return (digits.match(/[0-9]/g) ?? []).map((digit) => sayNumber(language, Number(digit))).join(' ');
}

/** Groups of digits with pauses: `four two, seven one`. */
export function sayDigitGroups(language: Language, groups: readonly string[]): string {
  return groups.map((group) => sayDigits(language, group)).join(', ');
}

/** Cuts digits into groups as people say them: four at a time, or three when that avoids a single digit. */
export function digitGroups(digits: string): string[] {
  if (digits.length <= 4) return [digits];
  const size = digits.length % 4 === 0 ? 4 : digits.length % 3 === 0 || digits.length % 3 === 2 ? 3 : 4;
  const groups: string[] = [];
  for (let from = 0; from < digits.length; from += size) groups.push(digits.slice(from, from + size));
  const [last, before] = [groups.at(-1), groups.at(-2)];
  if (last === undefined || last.length > 1 || before === undefined) return groups;
  return [...groups.slice(0, -2), before + last];
}
