import type { Language } from './language.ts';
import { sayNumber } from './numbers.ts';

/** Digits one by one, as a number is read out: `four two seven one`. Anything but digits is left out. */
export function sayDigits(language: Language, digits: string): string {
  return (digits.match(/[0-9]/g) ?? []).map((digit) => sayNumber(language, Number(digit))).join(' ');
}
