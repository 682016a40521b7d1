import { pieceAt } from './digits.ts';
import type { Language } from './language.ts';
import { letterNamed } from './letters.ts';
import { sayNumber } from './numbers.ts';

const SIGN_NAMES: Readonly<Record<Language, ReadonlyMap<string, string>>> = {
  en: new Map([
    ['@', 'at'],
    ['.', 'dot'],
    ['_', 'underscore'],
    ['-', 'dash'],
    ['+', 'plus'],
  ]),
  hi: new Map([
    ['@', 'ऐट'],
    ['.', 'डॉट'],
    ['_', 'अंडरस्कोर'],
    ['-', 'डैश'],
    ['+', 'प्लस'],
  ]),
};
/** Words that mean something else when an address is read out. */
const TAKEN = new Set(
  'at dot to use period underscore dash hyphen minus plus is its it my the email mail address id yes sure okay um uh all small lowercase letters letter capital word double triple treble quadruple under full'.split(
    ' ',
  ),
);

/**
 * An address as it is said: `ravi dot kumar one two at gmail dot com`. Digits one by one; words that would be heard as
 * something else (`one`, `dot`) letter by letter.
 */
export function sayEmail(language: Language, address: string): string {
  const pieces = address.toLowerCase().match(/[a-z]+|\d|[^a-z\d\s]/g) ?? [];
  return pieces
    .flatMap((piece) => {
      const sign = SIGN_NAMES[language].get(piece);
      if (sign !== undefined) return [sign];
      if (/^\d$/.test(piece)) return [sayNumber(language, Number(piece))];
      return clear(piece) ? [piece] : piece.split('');
    })
    .join(' ');
}

function clear(word: string): boolean {
  return word.length > 1 && !TAKEN.has(word) && letterNamed(word) === undefined && pieceAt([word], 0) === undefined;
}
