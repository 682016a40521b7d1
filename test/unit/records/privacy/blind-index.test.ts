import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BlindIndex, wordsOf } from '../../../../src/records/privacy/blind-index.ts';

describe('the blind index', () => {
  test.each([
    { note: 'letters and digits, in lower case, each once', text: 'Pay 20 EUR, pay!', words: ['pay', '20', 'eur'] },
    { note: 'Hindi with its marks', text: 'हाँ, मंगलवार को।', words: ['हाँ', 'मंगलवार', 'को'] },
    { note: 'without invisible joiners', text: 'क्\u200Dष', words: ['क्ष'] },
    { note: 'composed and decomposed alike', text: 'cafe\u0301 café', words: ['café'] },
    { note: 'a nukta in either spelling', text: '\u0958 क़', words: ['क़'.normalize('NFKC')] },
    { note: 'nothing of marks alone', text: '?! -- ', words: [] },
  ])('cuts a text into $note', ({ text, words }) => expect(wordsOf(text)).toEqual(words.map((word) => word.normalize('NFKC'))));

  it('finds every word of a text whatever its case, and never by another key', () => {
    const [ours, theirs] = [new BlindIndex(Buffer.alloc(32, 1)), new BlindIndex(Buffer.alloc(32, 2))];
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-zäöü\u0905-\u0939]{1,12}$/u), { minLength: 1, maxLength: 20 }), (words) => {
        const kept = new Set(ours.words(words.join(' ')));
        for (const word of words) {
          for (const hash of ours.words(word.toUpperCase().toLowerCase())) expect(kept).toContain(hash);
          for (const hash of theirs.words(word)) expect(kept).not.toContain(hash);
        }
      }),
    );
  });

  it('knows a number in any spelling, and an empty one not at all', () => {
    const index = new BlindIndex(Buffer.alloc(32, 1));
    expect(index.number('+1 (555) 010-0001')).toBe(index.number('+15550100001'));
    expect(index.number('sip:+15550100001@carrier')).toBe(index.number('+15550100001'));
    expect(index.number('+15550100002')).not.toBe(index.number('+15550100001'));
    expect(index.number(' - ')).toBeUndefined();
  });
});
