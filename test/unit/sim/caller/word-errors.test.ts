import { describe, expect, it } from 'vitest';
import { WordErrorCount, wordsOf } from '../../../../src/sim/caller/word-errors.ts';

describe('the words of a text', () => {
  it.each([
    ['Tuesday, at half-past 10!', 'tuesday at half past ten'],
    ['press * or #', 'press star or pound'],
    ['42 20 7 99', 'forty two twenty seven ninety nine'],
    ['It\u2019s 1234', "it's 1234"],
    ['... ', ''],
  ])('of "%s" are "%s"', (text, words) => {
    expect(wordsOf(text).join(' ')).toBe(words);
  });
});

describe('word errors', () => {
  it.each([
    ['one two three', 'one two three', 0],
    ['one two three', 'one three', 1],
    ['one two three', 'one too three four', 2],
    ['one', '', 1],
  ])('of "%s" heard as "%s" are %i', (said, heard, errors) => {
    const count = new WordErrorCount();
    count.add(said, heard);
    expect(count.errors).toBe(errors);
  });

  it('are a share of the words that were said, and noise around no words counts nothing', () => {
    const count = new WordErrorCount();
    count.add('', 'you');
    expect(count.percent).toBe(0);
    count.add('one two three four', 'one two tree four');
    expect(count.percent).toBe(25);
  });
});
