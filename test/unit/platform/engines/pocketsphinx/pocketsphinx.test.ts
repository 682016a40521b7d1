import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import type { Decoded } from '../../../../../src/platform/engines/pocketsphinx/decoder.ts';
import { dictionaryOf } from '../../../../../src/platform/engines/pocketsphinx/dictionary.ts';
import { phoneLoop, spokenWords, toJsgf } from '../../../../../src/platform/engines/pocketsphinx/jsgf.ts';
import { prepareVocabulary } from '../../../../../src/platform/engines/pocketsphinx/prepare.ts';
import { secondOpinion, wantsSecondOpinion } from '../../../../../src/platform/engines/pocketsphinx/second-opinion.ts';
import { UtteranceTape } from '../../../../../src/platform/engines/pocketsphinx/utterance-tape.ts';
import { withPocketsphinx } from '../../../../../src/platform/engines/pocketsphinx/with-pocketsphinx.ts';
import type { RecognitionEngine, RecognitionResult } from '../../../../../src/platform/engines/port.ts';
import { readGrammar } from '../../../../../src/platform/engines/recognise/grammar.ts';
import { requirePackage } from '../../../../support/requires.ts';

/** Optional: where npm could not install it, what is missing is koffi itself. */
const hasKoffi = requirePackage('koffi', join(import.meta.dirname, '../../../../../node_modules/koffi/package.json'));

const grammar = readGrammar(`
language: en
start: all
rules:
  all: |
    yes [thank_you]
    <a-number>{2,4}
    klaxophone <a-number>
    [klaxophone] no
  a-number: |
    (one | two)
`);
const whole = `yes Y EH S\none W AH N\none(2) HH W AH N\ntwo T UW\nthank TH AE NG K\nyou Y UW\nno N OW\nmonday M AH N D EY\n`;

describe('a vocabulary for pocketsphinx', () => {
  it('has its repetitions written out, and nothing that has no pronunciation', () => {
    const words = new Set(['yes', 'thank', 'you', 'one', 'two', 'no']);
    expect(
      toJsgf(grammar, words)
        ?.split('\n')
        .map((line) => line.replaceAll(/\s+/g, ' ').trim()),
    ).toEqual([
      '#JSGF V1.0;',
      'grammar vocabulary;',
      '<r1> = ((one | two));',
      '<r0> = (yes [(thank you) ] | (<r1>) (<r1>) [(<r1>) [(<r1>) ]] | <NULL> no);',
      'public <start> = <r0>;',
      '',
    ]);
    expect(toJsgf(grammar, new Set(['thank']))).toBeUndefined();
  });

  it('asks for parts of joined words one by one', () => {
    expect([...spokenWords(grammar)].toSorted()).toEqual(['klaxophone', 'no', 'one', 'thank', 'two', 'yes', 'you']);
  });

  it('takes every pronunciation of its own words, in their own spelling, and every phone', () => {
    const { text, words, phones } = dictionaryOf(whole, new Set(['Monday', 'one', 'klaxophone']));
    expect(text.split('\n').slice(0, 3)).toEqual(['one W AH N', 'one(2) HH W AH N', 'Monday M AH N D EY']);
    expect([...words]).toEqual(['one', 'Monday']);
    expect(phones).toContain('TH');
    expect(text).toContain('__TH TH\n');
    expect(phoneLoop(['AA', 'B'])).toContain('(__AA | __B)+;');
  });
});

describe('a second opinion', () => {
  const heard: RecognitionResult = {
    text: 'at nine',
    words: [],
    startS: 3,
    endS: 4,
    confidence: 0.6,
    language: 'en',
    alternatives: [],
  };
  const refused: RecognitionResult = { ...heard, text: '', confidence: 0.2 };
  const second: Decoded = { words: [{ word: 'five', startS: 0.5, endS: 0.9 }], gap: 1 };

  it('is asked for where there was something like speech that was not understood', () => {
    expect(wantsSecondOpinion(heard)).toBe(false);
    expect(wantsSecondOpinion(refused)).toBe(true);
    expect(wantsSecondOpinion({ ...refused, confidence: 0 })).toBe(false);
  });

  it('is believed where its words fit nearly as well as any sounds, at the times of the stream', () => {
    const joined = secondOpinion(refused, second, 2);
    expect(joined).toMatchObject({ text: 'five', startS: 2.5, endS: 2.9, alternatives: [] });
    expect(joined.words).toEqual([{ word: 'five', startS: 2.5, endS: 2.9, confidence: joined.confidence }]);
    expect(joined.confidence).toBeGreaterThan(0.5);
    expect(joined.confidence).toBeLessThanOrEqual(1);
  });

  it('is not believed about what fits the vocabulary badly, or when it heard nothing', () => {
    expect(secondOpinion(refused, { ...second, gap: 1e6 }, 2)).toBe(refused);
    expect(secondOpinion(refused, { words: [], gap: Infinity }, 2)).toBe(refused);
  });
});

describe('what was said last', () => {
  it('can be cut out of the stream, whatever the chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 12 }),
        fc.nat(30),
        fc.nat(30),
        (sizes, from, length) => {
          const tape = new UtteranceTape(1_000);
          let count = 0;
          for (const size of sizes) tape.push(Int16Array.from({ length: size }, () => (count += 1) % 30_000));
          const { pcm, startS } = tape.cut(from, from + length);
          const kept = Math.max(0, count - 22_000, from * 1_000);
          expect(Math.round(startS * 1_000)).toBe(kept);
          const end = Math.max(kept, Math.min(count, (from + length) * 1_000));
          expect([...pcm]).toEqual(Array.from({ length: end - kept }, (_, index) => (kept + index + 1) % 30_000));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a machine without pocketsphinx', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'offhook-sphinx-'));
    writeFileSync(join(folder, 'vocabulary.en.yaml'), 'language: en\nstart: a\nrules:\n  a: klaxophone\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const builtIn: RecognitionEngine = {
    languages: ['en', 'hi'],
    open: () => {
      throw new Error('nobody opens it');
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const absent = { decoder: 'libnot-there.so.3', base: 'libnot-there.so.3' };
  const options = { vocabularyFolder: '', cacheFolder: '', clock: systemClock, logger: silentLogger, libraryFiles: absent };

  it.runIf(hasKoffi)('is told which Debian package is missing, where it was asked for by name', async () => {
    await expect(withPocketsphinx(builtIn, { ...options, use: 'on' })).rejects.toMatchObject({
      code: 'OFFHOOK_POCKETSPHINX',
      message: expect.stringContaining('apt-get install libpocketsphinx3') as string,
    });
  });

  it('is told which Debian package has the model, and when no word of the vocabulary is known', async () => {
    const at = { modelsFolder: folder, vocabularyFolder: folder, cacheFolder: folder, logger: silentLogger };
    await expect(prepareVocabulary(at)).rejects.toThrow(/apt-get install pocketsphinx-en-us/);
    writeFileSync(join(folder, 'cmudict-en-us.dict'), whole);
    await expect(prepareVocabulary(at)).rejects.toThrow(/knows the words of no sentence/);
  });

  it('goes on with the built-in recogniser else', async () => {
    expect(await withPocketsphinx(builtIn, { ...options, use: 'auto' })).toBe(builtIn);
    expect(await withPocketsphinx(builtIn, { ...options, use: 'off' })).toBe(builtIn);
  });
});
