import type { Language } from './language.ts';
import { sayNumber } from './numbers.ts';
import { sayInteger } from './say-integer.ts';

/** `twenty twenty six`, `दो हज़ार छब्बीस`. @param year 1000 to 9999 */
export function sayYear(language: Language, year: number): string {
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
