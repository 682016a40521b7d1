import type { Language } from './language.ts';
import { sayNumber } from './numbers.ts';

/** Digits one by one, as a number is read out: `four two seven one`. Anything but digits is left out. */
export function sayDigits(language: Language, digits: string): string {
  return (digits.match(/[0-9]/g) ?? []).map((digit) => sayNumber(language, Number(digit))).join(' ');
}

/** Groups of digits with a breath between them: `four two, seven one`. */
export function sayDigitGroups(language: Language, groups: readonly string[]): string {
  return groups.map((group) => sayDigits(language, group)).join(', ');
}

/** Cuts digits as people say them: four at a time, threes where that leaves no single one behind. */
export function digitGroups(digits: string): string[] {
  if (digits.length <= 4) return [digits];
  const size = digits.length % 4 === 0 ? 4 : digits.length % 3 === 0 || digits.length % 3 === 2 ? 3 : 4;
  const groups: string[] = [];
  for (let from = 0; from < digits.length; from += size) groups.push(digits.slice(from, from + size));
  const last = groups.at(-1)!;
  return last.length > 1 || groups.length < 2 ? groups : [...groups.slice(0, -2), groups.at(-2)! + last];
}
