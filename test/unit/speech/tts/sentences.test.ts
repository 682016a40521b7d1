import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { SentenceCutter, splitForSpeech } from '../../../../src/speech/tts/sentences.ts';
import { thorough } from '../../../support/thorough.ts';

function codePoints(text: string): number {
  return Array.from(text).length;
}

/** Where the pieces end in the text, in UTF-16 units. */
function cutsOf(pieces: readonly string[]): number[] {
  let at = 0;
  return pieces.slice(0, -1).map((piece) => (at += piece.length));
}

/** Texts of everything that is awkward to cut, in any order. */
const awkward = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('Hello', 'the', 'clinic', 'नमस्ते', 'क्षत्रिय', 'آپ', 'वह', 'ok', 'ᱡᱚᱦᱟᱨ', '你好') },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          '. ',
          '! ',
          '? ',
          '… ',
          '। ',
          '।',
          '॥ ',
          '۔ ',
          '؟ ',
          '᱾ ',
          '。',
          '!? ',
          '." ',
          ', ',
          '; ',
          ' — ',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('3.5', '10:30', '1,200.50', '98765 43210', '2026', '$5', '$12.50 ', '$') },
      { weight: 1, arbitrary: fc.constantFrom('Dr. ', 'e.g. ', 'a.m. ', 'No. 5', 'डॉ. ', 'J. ', 'etc. ') },
      { weight: 1, arbitrary: fc.constantFrom('$x^2 + 1. 5$', '$$a, b. C$$', '$\\alpha$', '\\$') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('👩‍👩‍👧', '🇮🇳🇮🇳', 'e\u0301', '\r\n', '\n\n', ' ', '  ', '"', '”', '(', ')', '\u0301', '\u200d'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('text cut for speech', () => {
  it.each(['\n', ' ', '. \n', '"'])('is cut, made of %j without end', (part) => {
    const text = part.repeat(20_000);
    expect(splitForSpeech(text).join('')).toBe(text);
  });

  test.each<{ note: string; pieces: readonly string[] }>([
    { note: 'sentences', pieces: ['Good morning. ', 'How are you? ', 'Fine!'] },
    { note: 'a decimal, a time and an amount', pieces: ['It is 3.5 km. ', 'Come at 10:30. ', 'Pay 1,200.50 rupees.'] },
    { note: 'titles and initials', pieces: ['Dr. A. Rao and Mrs. Iyer are here. ', 'Please wait.'] },
    { note: 'abbreviations that go on', pieces: ['We open at 9 a.m. and close late, e.g. Sundays. ', 'Really.'] },
    { note: 'abbreviations that end a sentence', pieces: ['We open at 9 a.m. ', 'Please come, bring cards etc. ', 'Thank you.'] },
    { note: 'a number behind No., and the answer no', pieces: ['Take counter No. 5 please. ', 'No. ', 'That is all.'] },
    { note: 'list items', pieces: ['1. Press one. ', '2. Wait.'] },
    { note: 'several marks and quotes', pieces: ['"Really?!" ', 'He said “yes.” ', 'Well... ', 'Good.'] },
    { note: 'Hindi', pieces: ['नमस्ते। ', 'डॉ. शर्मा 10.30 बजे मिलेंगे। ', 'ठीक है?'] },
    { note: 'a danda without a space', pieces: ['नमस्ते।', 'आप कैसे हैं।'] },
    { note: 'Sanskrit verses', pieces: ['धर्मक्षेत्रे कुरुक्षेत्रे। ', 'मामकाः पाण्डवाश्च॥ ', 'सञ्जय'] },
    { note: 'Urdu', pieces: ['السلام علیکم۔ ', 'آپ کیسے ہیں؟ ', 'شکریہ!'] },
    { note: 'Santali and Manipuri', pieces: ['ᱡᱚᱦᱟᱨ ᱾ ', 'ᱥᱟᱱᱟᱢ ᱾ ', 'ꯈꯨꯔꯨꯝꯖꯔꯤ꯫ ', 'ꯃꯆꯥ'] },
    { note: 'Chinese', pieces: ['你好。', '你好吗？', '好'] },
    { note: 'a formula with marks inside', pieces: ['Take $x. Y! z$ now. ', 'And $$a. B$$. ', 'Done.'] },
    { note: 'prices, which are no formulas', pieces: ['It costs $5. ', 'You pay $10. ', 'Is $7 fine?'] },
    { note: 'addresses', pieces: ['Write to a.b@example.com or www.example.com. ', 'Thanks.'] },
    { note: 'paragraphs', pieces: ['Welcome\n\n', 'to us'] },
    { note: 'a tail that nobody can say', pieces: ['Hi. ', 'Thanks. 🙂 ...'] },
  ])('keeps $note whole [172]', ({ pieces }) => {
    expect(splitForSpeech(pieces.join(''))).toEqual(pieces);
  });

  it('gives back the whole text, whatever it is and however long pieces may be [172]', () => {
    fc.assert(
      fc.property(awkward, fc.integer({ min: 1, max: 80 }), (text, most) => {
        expect(splitForSpeech(text, most).join('')).toBe(text);
        expect(splitForSpeech(text, most)).not.toContain('');
      }),
    );
  });

  it('cuts inside no grapheme cluster and no formula, and keeps to the limit otherwise [172]', () => {
    fc.assert(
      fc.property(awkward, fc.integer({ min: 8, max: 80 }), (text, most) => {
        const pieces = splitForSpeech(text, most);
        const boundaries = new Set([...new Intl.Segmenter().segment(text)].map(({ index }) => index));
        const cuts = cutsOf(pieces);
        for (const cut of cuts) expect(boundaries).toContain(cut);
        for (const piece of pieces) {
          const clusters = [...new Intl.Segmenter().segment(piece)].length;
          if (codePoints(piece) > most) expect(clusters === 1 || piece.includes('$')).toBe(true);
        }
      }),
      { numRuns: thorough(125, 500) },
    );
  });

  it('cuts into no formula, wherever the text around it is cut [172]', () => {
    const formulas = fc.constantFrom('$x^2 + 1. Five$', '$$a, b. C$$', '$\\frac{1. a}{2, b}$');
    const plain = fc.constantFrom('word', ' ', '. ', 'Go! ', 'है। ', ', ', '3.5');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(formulas, fc.array(plain, { minLength: 1, maxLength: 12 }))),
        fc.integer({ min: 24, max: 60 }),
        (parts, most) => {
          const text = parts.map(([formula, words]) => `${formula} ${words.join('')} `).join('');
          const inside = new Set<number>();
          let at = 0;
          for (const [formula, words] of parts) {
            for (let unit = 1; unit < formula.length; unit += 1) inside.add(at + unit);
            at += formula.length + words.join('').length + 2;
          }
          for (const cut of cutsOf(splitForSpeech(text, most))) expect(inside).not.toContain(cut);
        },
      ),
    );
  });

  it('cuts into no number as long as there is a word to cut at [172]', () => {
    const numbers = fc.constantFrom('3.5', '10:30', '98765 43210', '1,200.50', '2026-01-02');
    fc.assert(
      fc.property(fc.array(numbers, { minLength: 1, maxLength: 40 }), fc.integer({ min: 24, max: 60 }), (list, most) => {
        const text = list.map((number) => `about ${number} and`).join(' ');
        const joined = splitForSpeech(text, most).map((piece) => piece.trim());
        for (const number of list) expect(joined.some((piece) => piece.includes(number))).toBe(true);
      }),
    );
  });

  it('keeps every piece under 500 characters and prefers clauses [172]', () => {
    const clause = 'we can see you on Tuesday at half past ten with doctor Rao, ';
    const pieces = splitForSpeech(clause.repeat(40));
    expect(pieces.join('')).toBe(clause.repeat(40));
    for (const piece of pieces) {
      expect(codePoints(piece)).toBeLessThan(500);
      expect(piece.endsWith(', ')).toBe(true);
    }
    for (const piece of splitForSpeech('क्षि'.repeat(2_000))) expect(codePoints(piece)).toBeLessThan(500);
  });

  it('starts a long first sentence with its first clauses', () => {
    const first = 'Thank you for calling the Lotus clinic on the main road, ';
    const rest = 'where we are happy to help you with appointments and reports today. ';
    expect(splitForSpeech(`${first}${rest}${first}${rest}`)).toEqual([first, rest, `${first}${rest}`]);
  });

  it('gives the same pieces however the text arrives', () => {
    fc.assert(
      fc.property(
        awkward,
        fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 }),
        fc.integer({ min: 8, max: 90 }),
        (text, sizes, most) => {
          const cutter = new SentenceCutter(most);
          const pieces: string[] = [];
          let at = 0;
          for (const size of sizes) pieces.push(...cutter.push(text.slice(at, (at += size))));
          pieces.push(...cutter.push(text.slice(at)), ...cutter.flush());
          expect(pieces).toEqual(splitForSpeech(text, most));
        },
      ),
      { numRuns: thorough(100, 400) },
    );
  });

  it('returns a sentence as soon as the next one begins', () => {
    const cutter = new SentenceCutter();
    expect(cutter.push('Good morn')).toEqual([]);
    expect(cutter.push('ing. ')).toEqual([]);
    expect(cutter.push('How')).toEqual(['Good morning. ']);
    expect(cutter.push(' are you? It costs $5. That')).toEqual(['How are you? ', 'It costs $5. ']);
    expect(cutter.flush()).toEqual(['That']);
    expect(cutter.flush()).toEqual([]);
  });

  it('refuses a limit that no piece can keep', () => {
    for (const most of [0, -1, 1.5, Number.NaN]) expect(() => splitForSpeech('a', most)).toThrow(RangeError);
  });
});
