import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { patternProblem, PatternSearch } from '../../../src/kernel/pattern.ts';

const findIn = (pattern: string, text: string): string[] =>
  new PatternSearch(pattern).findIn(text).map(({ from, to }) => text.slice(from, to));

describe('a pattern of an operator', () => {
  test.each([
    [String.raw`^(\w+\s?)+$`, 'zero one two three four five six seven eight nine!'],
    [String.raw`^(?<value>(?:[a-z]+ ?)*)$`, `${'and so on '.repeat(2_000)}!`],
    [String.raw`(x+x+)+y`, 'x'.repeat(10_000)],
  ])('runs %s in a time that grows with the text alone', (pattern, text) => {
    // With JavaScript's engine none of these ends while a caller waits; the test's own deadline is what would fail.
    expect(findIn(pattern, text)).toEqual([]);
  });

  test.each([
    ['the group value', String.raw`\bORD-(?<value>\d+)`, 'my order ORD-5512, not ORD-7', ['5512', '7']],
    ['the first group', String.raw`([\d,]+) rupees`, 'it costs 1,250 Rupees', ['1,250']],
    ['all of it', 'rupees?', 'a RUPEE, two rupees', ['RUPEE', 'rupees']],
    ['all of it where the group took no part', '(?<value>a)|b', 'b a', ['b', 'a']],
    ['nothing for an empty match', 'x*', 'aaa', []],
    ['places behind signs of two units', String.raw`(?<value>\p{L}+) x`, '😀 कठ😀 Ärger X', ['Ärger']],
    ['words of a script', String.raw`\p{Script=Devanagari}+`, 'okay मंगल fine', ['मंगल']],
    ['letters by their long name', String.raw`[\p{Letter}-]+`, '1 well-known 2', ['well-known']],
    ['signs by number', String.raw`\u0915\u{1F600}`, 'क😀', ['क😀']],
    ['a blank that is not ASCII', String.raw`no\s(?<value>\d+)`, 'no\u00a012', ['12']],
  ])('gives %s', (_what, pattern, text, found) => {
    expect(patternProblem(pattern)).toBeUndefined();
    expect(findIn(pattern, text)).toEqual(found);
  });

  test.each([
    ['(?=a)b', 'looks ahead or behind'],
    ['(?<!a)b', 'looks ahead or behind'],
    [String.raw`(a)\1`, 'refers back to a group'],
    [String.raw`(?<v>a)\k<v>`, 'refers back to a group'],
    ['(', 'Unterminated group'],
    ['a{1001}', 'more than 1000 times'],
    ['(?:a?b?){1000}', 'repetitions are too many'],
    [String.raw`\p{Script=Deva}`, 'Deva'],
  ])('names %s and why it is refused', (pattern, reason) => {
    const problem = patternProblem(pattern);
    expect(problem).toContain(JSON.stringify(pattern));
    expect(problem).toContain(reason);
    expect(problem).toContain('linear time');
  });

  it('takes a backslash before a digit or a k for what it is', () => {
    expect(patternProblem(String.raw`\\1`)).toBeUndefined();
    expect(findIn(String.raw`\\k`, String.raw`a\k`)).toEqual([String.raw`\k`]);
  });

  it('gives up a pattern that searches to the end of a long text for every match, and says so', () => {
    const search = new PatternSearch('a.*b|a');
    expect(search.findIn('a'.repeat(100_000)).length).toBeGreaterThan(0);
    expect(search.gaveUp).toBe(true);
  });

  it('finds what JavaScript finds', () => {
    const patterns = [
      String.raw`\b(?<value>\d+(?:\.\d+)?\s?(?:mg|ml))\b`,
      String.raw`(?<value>\d[\d,]*)\s*(?:rupees|rs)\b`,
      'a|ab|b+',
    ];
    const word = fc.constantFrom('12', ' ', 'mg', 'ML', '1,250', 'rupees', 'rs', 'a', 'ab', 'b', '.', 'ä', '😀', 'मंगल');
    fc.assert(
      fc.property(fc.constantFrom(...patterns), fc.array(word, { maxLength: 12 }), (pattern, words) => {
        const text = words.join('');
        const expected = [...text.matchAll(new RegExp(pattern, 'giu'))].map((match) => match.groups?.['value'] ?? match[0]);
        expect(findIn(pattern, text)).toEqual(expected);
      }),
    );
  });
});
