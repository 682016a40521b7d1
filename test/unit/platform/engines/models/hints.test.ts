import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withHints } from '../../../../../src/platform/engines/models/hints.ts';
import { soundDistance, soundsOf } from '../../../../../src/platform/engines/models/sounds.ts';
import type { RecognitionResult } from '../../../../../src/platform/engines/recognise/port.ts';
import { MISHEARD, RIGHT } from './hint-pairs.ts';

function heardAs(text: string): RecognitionResult {
  const words =
    text === '' ? [] : text.split(' ').map((word, index) => ({ word, startS: index, endS: index + 1, confidence: 0.8 }));
  return {
    text,
    words,
    startS: 0,
    endS: words.length,
    confidence: 0.8,
    language: 'en',
    alternatives: text === '' ? [] : [{ text, confidence: 0.8 }],
  };
}
const textWith = (heard: string, hints: readonly string[]): string => withHints(heardAs(heard), hints).text;

describe('hints compared with what a model heard', () => {
  it('stand for most of what recognisers make of them', () => {
    const wrong = MISHEARD.filter(([heard, hint, text]) => textWith(heard, [hint]) !== text);
    expect(wrong.map(([heard]) => heard)).toEqual(['fixt deposit', 'opening ours', 'appointment radd karna hai']);
    expect(MISHEARD.length).toBe(60);
  });

  it.each(RIGHT)('leave "%s" as it is beside the hint "%s"', (heard, hint) => {
    expect(textWith(heard, [hint])).toBe(heard);
  });

  it('keep what was heard in the alternatives, and the times of its words', () => {
    const result = withHints(heardAs('i live in kora mangala now'), ['Koramangala', 'Indiranagar']);
    expect(result.text).toBe('i live in Koramangala now');
    expect(result.words.map(({ word, startS, endS }) => [word, startS, endS])).toEqual([
      ['i', 0, 1],
      ['live', 1, 2],
      ['in', 2, 3],
      ['Koramangala', 3, 5],
      ['now', 5, 6],
    ]);
    expect(result.alternatives.map(({ text }) => text)).toEqual(['i live in Koramangala now', 'i live in kora mangala now']);
    expect(result.confidence).toBeLessThanOrEqual(0.8);
  });

  it('keep the punctuation behind a word', () => {
    expect(textWith('this is prya, speaking', ['Priya'])).toBe('this is Priya, speaking');
  });

  it('replace nothing where two of them sound alike', () => {
    expect(textWith('doctor sharmaa', ['Doctor Sharma', 'Doctor Charma'])).toBe('doctor sharmaa');
    expect(textWith('kancel it', ['cancel', 'cancel it'])).toBe('cancel it');
  });

  it('invent nothing', () => {
    expect(withHints(heardAs(''), ['appointment'])).toEqual(heardAs(''));
    const word = fc.constantFrom(...RIGHT.flatMap(([heard]) => heard.split(' ')));
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 8 }),
        fc.array(fc.constantFrom(...MISHEARD.map(([, hint]) => hint))),
        (words, hints) => {
          const heard = heardAs(words.join(' '));
          const result = withHints(heard, hints);
          // What is there was heard, or is a hint; and there are about as many words.
          const allowed = new Set([...words, ...hints.flatMap((hint) => hint.split(' '))]);
          for (const each of result.words) expect(allowed).toContain(each.word);
          expect(result.words.length).toBeLessThanOrEqual(words.length + 2 * words.length);
          if (result.text !== heard.text) expect(result.alternatives.map(({ text }) => text)).toContain(heard.text);
        },
      ),
    );
  });
});

describe('sounds of words', () => {
  it.each([
    ['knight', 'night'],
    ['right', 'write'],
    ['Catherine', 'Katherine'],
    ['photo', 'foto'],
    ['nation', 'nashan'],
    ['वर्मा', 'वर्मा'],
  ])('are the same for %s and %s', (a, b) => {
    expect(soundsOf(a)).toBe(soundsOf(b));
  });

  it.each([
    ['appointment', 'अपॉइंटमेंट', 1],
    ['priya', 'प्रिया', 0.5],
    ['sharma', 'शर्मा', 0.5],
    ['lakshmi', 'laxmi', 0.5],
    ['refund', 'रिफंड', 0.5],
  ])('are near for %s and %s', (a, b, most) => {
    expect(soundDistance(soundsOf(a), soundsOf(b))).toBeLessThanOrEqual(most);
  });

  it.each([
    ['sharma', 'verma'],
    ['rajesh', 'ramesh'],
    ['tuesday', 'thursday'],
    ['सात', 'आठ'],
  ])('are far for %s and %s', (a, b) => {
    expect(soundDistance(soundsOf(a), soundsOf(b))).toBeGreaterThanOrEqual(0.9);
  });
});
