import { describe, expect, it } from 'vitest';
import { HINDI_NUMBERS, numberAt, sayNumber } from '../../../../src/language/understand/numbers.ts';
import { tokenise } from '../../../../src/language/understand/tokens.ts';

describe('number words', () => {
  it('has a hundred Hindi numbers with different spellings', () => {
    expect(HINDI_NUMBERS).toHaveLength(100);
    const values = new Map<string, number>();
    for (const [value, spellings] of HINDI_NUMBERS.entries()) {
      for (const word of spellings.flatMap(tokenise)) {
        expect(values.get(word) ?? value, word).toBe(value);
        values.set(word, value);
      }
    }
  });

  it.each(['en', 'hi'] as const)('reads every number from 0 to 99 that it speaks in %s', (language) => {
    for (let value = 0; value < 100; value++) {
      const tokens = tokenise(sayNumber(language, value));
      expect(numberAt(tokens, 0)).toEqual({ value, from: 0, to: tokens.length });
    }
  });

  it.each([
    ['छः', 6],
    ['पांच', 5],
    ['पन्द्रह', 15],
    ['५', 5],
    ['४२', 42],
    ['twenty-five', 25],
    ['थ्री', 3],
  ])('reads %s as %i', (text, value) => expect(numberAt(tokenise(text), 0)?.value).toBe(value));

  it.each([-1, 100, 1.5])('refuses to say %d', (value) => expect(() => sayNumber('en', value)).toThrow(RangeError));
});
