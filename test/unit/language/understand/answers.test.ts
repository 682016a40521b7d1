import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findChoice, tokenise, languageOf } from '../../../../src/language/understand/tokens.ts';
import { findDay } from '../../../../src/language/understand/find-day.ts';
import { digitRuns, findDigits, sayDigits } from '../../../../src/language/understand/digits.ts';
import { readEmail } from '../../../../src/language/understand/email.ts';
import { findTime } from '../../../../src/language/understand/time.ts';

describe('words', () => {
  it.each([
    ["I'd like an appointment, please!", ['id', 'like', 'appointment']],
    ['at 10.30 a.m.', ['at', '10:30', 'am']],
    ['हाँ', tokenise('हां')],
    ['साढ़े', tokenise('साढे')],
    ['  ', []],
  ])('cuts "%s" into %j', (text, words) => expect(tokenise(text)).toEqual(words));
});

describe('digits', () => {
  it.each([
    ['four two seven one', '4271'],
    ['4271', '4271'],
    ['42 71', '4271'],
    ['forty two seventy one', '4271'],
    ['oh one two', '012'],
    ['double four triple seven', '44777'],
    ['it is one two three four thank you', '1234'],
    ['चार दो सात एक', '4271'],
    ['बयालीस इकहत्तर', '4271'],
    ['डबल चार शून्य', '440'],
    ['१२३४', '1234'],
    ['वन टू थ्री', '123'],
    ['hello', undefined],
    ['double', undefined],
  ])('reads "%s" as %s', (text, digits) => expect(findDigits(tokenise(text))?.value).toBe(digits));

  it.each(['en', 'hi'] as const)('reads all digits that it speaks in %s', (language) => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,16}$/), (digits) => {
        expect(findDigits(tokenise(sayDigits(language, digits)))?.value).toBe(digits);
      }),
    );
  });
});

describe('choices', () => {
  const choices = [
    { name: 'book', phrases: [['book'], ['appointment']] },
    { name: 'change', phrases: [['change'], ['change', 'appointment']] },
  ];
  it.each([
    ['book', 'book'],
    ['change my appointment', 'change'],
    ['an appointment', 'book'],
    ['book or change', undefined],
    ['something else', undefined],
  ])('takes "%s" for %s', (text, name) => expect(findChoice(tokenise(text), choices)?.value).toBe(name));
});

it('throws for no text at all, and names words that exist', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const tokens = tokenise(text);
      for (const found of [
        findDay(tokens, '2026-01-01'),
        findTime(tokens),
        findTime(tokens, { bare: true }),
        findDigits(tokens),
      ]) {
        if (found === undefined) continue;
        expect(found.from).toBeGreaterThanOrEqual(0);
        expect(found.to).toBeGreaterThan(found.from);
        expect(found.to).toBeLessThanOrEqual(tokens.length);
      }
    }),
  );
});

it.each([
  ['hi', 'hi'],
  ['hi-IN', 'hi'],
  ['en-GB', 'en'],
  ['fr', 'en'],
])('serves %s with the tables of %s', (code, language) => expect(languageOf(code)).toBe(language));

describe('a text without end', () => {
  const words = 100_000;

  it.each(['a', '1', 'a.', 'a@', '@', ' '])('is read for an address, made of %j', (part) => {
    expect(readEmail(part.repeat(words)).address).toBeUndefined();
  });

  it('is read for digits, made of a word that waits for one', () => {
    expect(digitRuns(Array.from({ length: words }, () => 'double'))).toEqual([]);
  });
});
