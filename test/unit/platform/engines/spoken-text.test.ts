import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  sentences,
  withShortStart,
  shapeSentence,
  SPEECH_LEVEL_DB,
} from '../../../../src/platform/engines/synth/speak-sentences.ts';
import { espeakLanguage } from '../../../../src/platform/engines/synth/spoken-language.ts';
import { defaultVoice, findVoice, voices, voiceSound } from '../../../../src/platform/engines/synth/voices.ts';
import { activeLevelDb, peakLevel } from '../../../../src/audio/level.ts';

describe('a short start', () => {
  const long = 'a rest of the sentence that is long enough to be worth a cut';

  it.each([
    ['cuts a long first sentence after its first comma', [`Of course, sir, ${long}.`], ['Of course, sir,', `${long}.`]],
    ['counts marks of other scripts', [`बहुत अच्छा जी; ${long}`], ['बहुत अच्छा जी;', long]],
    ['leaves a short sentence alone', ['Well, good morning, how are you?'], ['Well, good morning, how are you?']],
    ['leaves a word alone where a comma cuts nothing else off', [`Yes, ${long}`], [`Yes, ${long}`]],
    ['leaves numbers alone', [`It costs 1,250 rupees and ${long}`], [`It costs 1,250 rupees and ${long}`]],
    ['leaves later sentences alone', ['Yes.', `Of course, sir, ${long}.`], ['Yes.', `Of course, sir, ${long}.`]],
    ['has nothing of nothing', [], []],
  ])('%s', (_, pieces, expected) => {
    expect(withShortStart(pieces)).toEqual(expected);
  });
});

describe('sentences', () => {
  test.each([
    ['Hello. How are you?', ['Hello.', 'How are you?']],
    ['It costs 3.50 at 9 a.m today', ['It costs 3.50 at 9 a.m today']],
    ['नमस्ते। कैसे हैं?', ['नमस्ते।', 'कैसे हैं?']],
    ['  \n ', []],
  ])('it cuts %j', (text, expected) => {
    expect(sentences(text)).toEqual(expected);
  });

  it('loses nothing but white space, and no piece is too long', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', '?', '।', ',', '\n'), maxLength: 400 });
    fc.assert(
      fc.property(text, (text) => {
        const pieces = sentences(text, 40);
        expect(pieces.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
        expect(pieces.every((piece) => piece.length > 0 && piece.length <= 40)).toBe(true);
      }),
    );
  });
});

describe('the language that reads a text', () => {
  test.each([
    ['hello', undefined, 'hi', 'en-us'],
    ['नमस्ते', undefined, 'en', 'hi'],
    ['नमस्ते', 'en-IN', 'hi', 'hi'],
    ['नमस्कार', 'mr', 'hi', 'mr'],
    ['नमस्कार', undefined, 'mr', 'mr'],
    ['নমস্কার', 'as', 'hi', 'as'],
    ['سلام', 'ks', 'hi', 'ur'],
    ['सलाम', 'ks', 'hi', 'hi'],
    ['12', 'ta', 'hi', 'ta'],
    ['नमः', 'sa', 'hi', 'hi'],
    ['सेवा', 'kok', 'hi', 'mr'],
    ['Здравствуйте', undefined, 'hi', 'ru'],
    ['привіт', 'uk', 'hi', 'uk'],
    ['你好', undefined, 'hi', 'cmn'],
    ['bonjour', 'fr', 'hi', 'fr'],
    ['hello', 'ta', 'hi', 'en-us'],
  ])('it reads %s (asked %s, voice of %s) as %s', (text, asked, home, expected) => {
    expect(espeakLanguage(text, asked, home)).toBe(expected);
  });
});

describe('the voices', () => {
  it('are 46, a man and a woman for each of 23 languages', () => {
    expect(voices).toHaveLength(46);
    expect(new Set(voices.map(({ name }) => name)).size).toBe(46);
    expect(new Set(voices.map(({ language, gender }) => `${language} ${gender}`)).size).toBe(46);
    expect(findVoice(defaultVoice.toUpperCase())?.language).toBe('hi');
  });

  it('were 8 sounds: each has its own', () => {
    expect(new Set(voices.map(({ name }) => JSON.stringify(voiceSound(name)))).size).toBe(46);
  });

  it('keep the sounds of English and Hindi, which caches and learnt vocabularies hold', () => {
    const kept = { Varun: ['m3', 42], Nisha: ['f2', 52], Rajesh: ['m7', 40], Sunita: ['f3', 50] } as const;
    for (const [name, [variant, pitch]] of Object.entries(kept)) {
      expect(voiceSound(name)).toEqual({ variant, pitch, rateHz: 22_050, pace: 1 });
    }
  });
});

describe('the shape of a sentence', () => {
  const tone = (amplitude: number): Int16Array =>
    Int16Array.from({ length: 8_000 }, (_, n) => amplitude * Math.sin((2 * Math.PI * 440 * n) / 16_000));

  test.each([[300], [3_000], [30_000]])('it comes out at one level, from amplitude %s', (amplitude) => {
    expect(activeLevelDb(shapeSentence(tone(amplitude), 16_000), 16_000)).toBeCloseTo(SPEECH_LEVEL_DB, 0);
  });

  it('fades in and out, never clips, and keeps silence silent', () => {
    const spiky = Int16Array.from({ length: 16_000 }, (_, n) => (n % 4_000 === 2_000 ? 20_000 : Math.round(20 * Math.sin(n))));
    const shaped = shapeSentence(spiky, 16_000);
    expect([shaped[0], shaped.at(-1)]).toEqual([0, 0]);
    expect(peakLevel(shaped)).toBeLessThan(32_000);
    expect(peakLevel(shapeSentence(new Int16Array(100), 16_000))).toBe(0);
  });
});
