import { expect, it } from 'vitest';
import { sine } from '../../../../src/audio/tone.ts';
import type { RecognitionEngine } from '../../../../src/platform/engines/recognise/port.ts';
import { heardWarnings, recognitionWarnings } from '../../../../src/platform/server/asr/language-recognition.ts';
import { chooseLanguage } from '../../../../src/platform/languages.ts';
import { transcribe } from '../../../../src/platform/server/asr/transcribe.ts';
import { hangs } from '../../../support/patience.ts';

const engineHearing = (text: string, confidence: number, more: Partial<RecognitionEngine>): RecognitionEngine => ({
  languages: ['en'],
  ...more,
  open: () => ({
    push: () => undefined,
    commit: async () => [{ text, words: [], startS: 0, endS: 1, confidence, language: 'en', alternatives: [] }],
    close: () => undefined,
  }),
  [Symbol.asyncDispose]: async () => undefined,
});

const english = chooseLanguage('en');
if (english === undefined) throw new TypeError('there is no English');

it.each([
  { text: 'book an appointment', confidence: 0.55, more: { builtIn: true }, heard: '', unknown: 1, warnings: 2 },
  {
    text: 'book an appointment',
    confidence: 0.9,
    more: { builtIn: true },
    heard: 'book an appointment',
    unknown: 0,
    warnings: 1,
  },
  { text: '', confidence: 0.2, more: { builtIn: true }, heard: '', unknown: 1, warnings: 2 },
  { text: '', confidence: 0, more: { builtIn: true }, heard: '', unknown: 0, warnings: 0 },
  { text: 'hello', confidence: 0.1, more: { builtIn: true, modelLanguages: ['en'] }, heard: 'hello', unknown: 0, warnings: 0 },
])('marks speech outside the vocabulary of the built-in recogniser: $text at $confidence, $more', async (each) => {
  const engine = engineHearing(each.text, each.confidence, each.more);
  const pcm = sine(300, 1_000, 16_000);
  const audio = {
    rateHz: 16_000,
    durationSeconds: 1,
    async *blocks() {
      yield pcm;
    },
  };
  const options = { engine, language: english, boostPhrases: [], boostWeight: 10, signal: hangs() };
  const { recognised, unrecognised } = await transcribe(audio, options);
  expect(recognised.map(({ text }) => text).join(' ')).toBe(each.heard);
  expect(unrecognised).toHaveLength(each.unknown);
  expect(heardWarnings(engine, english, recognised, unrecognised)).toHaveLength(each.warnings);
});

it('names a boost that has no effect', () => {
  const engine = engineHearing('', 0, { languages: ['en', 'hi'], builtIn: true });
  const asked = { boostPhrases: ['Kowalski'], boostWeight: 40 };
  const warningsOf = (code: string, of: RecognitionEngine = engine, more: object = {}): string[] => {
    const language = chooseLanguage(code);
    if (language === undefined) throw new TypeError(`there is no ${code}`);
    return recognitionWarnings(of, language, { ...asked, ...more }).filter((each) => each.startsWith('boost'));
  };
  expect(warningsOf('hi', engine, { boostPhrases: ['कल'] })).toEqual([]);
  expect(warningsOf('en')).toEqual([expect.stringContaining('boost_weight has no effect in English')]);
  expect(warningsOf('en', engine, { boostWeight: 10 })).toEqual([]);
  expect(warningsOf('auto')).toEqual([expect.stringContaining('with auto')]);
  for (const code of ['mr', 'ta']) expect(warningsOf(code)).toEqual([expect.stringContaining('boost_phrases has no effect')]);
  const own = engineHearing('', 0, { languages: ['ta'], modelLanguages: ['ta'] });
  expect(warningsOf('ta', own)).toEqual([expect.stringContaining('speech model')]);
});
