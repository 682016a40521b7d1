import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { addFinal, addPartial, finalText, NO_WORDS, provisionalText, sameWords } from '../../../../src/call/turn/transcript.ts';

it('joins finals in the order of their segments, whatever order they came in', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), (order) => {
      const words = order.reduce((sum, seg) => addFinal(sum, seg, `w${seg}`), NO_WORDS);
      expect(finalText(words)).toBe('w0 w1 w2 w3 w4 w5');
    }),
  );
});

it('drops empty finals from the text and lets a final replace its own earlier text', () => {
  const words = addFinal(addFinal(addFinal(NO_WORDS, 0, 'ten'), 1, '  '), 0, '10');
  expect(finalText(words)).toBe('10');
});

it('keeps little of an hour of empty finals', () => {
  let words = addFinal(NO_WORDS, 0, 'ten');
  for (let seg = 1; seg <= 4_500; seg += 1) words = addFinal(words, seg, '');
  expect([words.finals.size, words.lastSeg, finalText(words)]).toEqual([2, 4_500, 'ten']);
});

it('keeps the last words of a turn that never ends, and as many segments as anybody makes', () => {
  let words = NO_WORDS;
  for (let seg = 0; seg < 2_000; seg += 1) words = addFinal(words, seg, `word${seg}`);
  expect([words.finals.size, finalText(words).endsWith('word1999')]).toEqual([500, true]);
  for (let seg = 2_000; seg < 2_020; seg += 1) words = addFinal(words, seg, 'x'.repeat(2_000));
  expect([words.finals.size, finalText(words).length]).toEqual([5, 10_004]);
});

it('keeps the partial apart until its final comes, and takes no partial behind it', () => {
  const partial = addPartial(addFinal(NO_WORDS, 0, 'on tuesday'), 1, 'at te');
  expect(finalText(partial)).toBe('on tuesday');
  expect(provisionalText(partial)).toBe('on tuesday at te');
  const final = addFinal(partial, 1, 'at ten');
  expect(provisionalText(final)).toBe('on tuesday at ten');
  expect(provisionalText(addPartial(final, 1, 'at'))).toBe('on tuesday at ten');
});

test.each([
  ['Tuesday, at ten.', 'tuesday at ten', true],
  ['साढ़े दस बजे।', 'साढ़े दस बजे', true],
  ['tuesday at ten', 'tuesday at two', false],
])('%j and %j say the same: %s', (a, b, same) => {
  expect(sameWords(a, b)).toBe(same);
});
