import fc from 'fast-check';
import { expect, it } from 'vitest';
import { literalPattern } from '../../../src/kernel/literal-pattern.ts';

const isMatched = (text: string): boolean => new RegExp(`^${literalPattern(text)}$`, 'u').test(text);

it.each(['no-input', String.raw`a\b/c`, '[x] (y) {z}', '$1.50 + 2?', 'मंगलवार'])('matches %j', (text) => {
  expect(isMatched(text)).toBe(true);
});

it('matches any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), isMatched));
});
