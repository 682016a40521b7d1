import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { pronounced, readPronunciation } from '../../../src/speech/pronunciation.ts';

const words = {
  Offhook: 'off-hook',
  'Rs.': 'rupees',
  Rs: 'rupees',
  US: 'U S',
  'dr. rao': 'doctor row',
  rao: 'row',
  कैफ़े: 'कैफ़ै',
  'c++': 'C plus plus',
};

test.each([
  ['Welcome to Offhook.', 'Welcome to off-hook.'],
  ['Offhooks and offhook stay.', 'Offhooks and offhook stay.'],
  ['That is Rs 500, or Rs. 600.', 'That is rupees 500, or rupees 600.'],
  ['Call us in the US.', 'Call us in the U S.'],
  ['Dr. Rao, or RAO alone, not Raoul.', 'doctor row, or row alone, not Raoul.'],
  ['कैफ़े में, कैफ़ेवाला नहीं', 'कैफ़ै में, कैफ़ेवाला नहीं'],
  ['C++ (c++)', 'C plus plus (C plus plus)'],
  ['“Offhook”!', '“off-hook”!'],
])('%j is spoken as %j', (written, spoken) => expect(pronounced(written, words)).toBe(spoken));

it('replaces nothing twice', () => {
  expect(pronounced('a b', { a: 'b', b: 'c' })).toBe('b c');
});

it('changes no text that holds none of the words, whatever signs these have', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-m .,!?]{0,40}$/u), fc.stringMatching(/^[n-z+*.()[\]{}|^$\\-]{1,8}$/u), (text, word) => {
      fc.pre(!text.includes(word));
      expect(pronounced(text, { [word]: 'X' })).toBe(text);
    }),
  );
});

it('finds a word of any signs', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[n-z+*.()[\]{}|^$\\-]{1,8}$/u), (word) => {
      expect(pronounced(`1 ${word} 2`, { [word]: 'X' })).toBe('1 X 2');
    }),
  );
});

it('reads a list of words', () => {
  expect(readPronunciation('Offhook=off-hook, Rs = rupees,')).toEqual({ Offhook: 'off-hook', Rs: 'rupees' });
  for (const wrong of ['Offhook', '=x', 'a=', 'a=b=c']) expect(() => readPronunciation(wrong)).toThrow(TypeError);
});
