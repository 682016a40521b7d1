import { describe, expect, it, test } from 'vitest';
import { type TranscriptionOptions, transcriptionFields } from '../../../../src/speech/asr/transcription-options.ts';
import { SpeechRequestError } from '../../../../src/speech/client/errors.ts';

describe('transcription options', () => {
  it('have the names of the documents [86]', () => {
    const all: Required<TranscriptionOptions> = {
      language: 'hi',
      verbose: true,
      numSpeakers: 2,
      identifySpeakers: true,
      outputScript: 'Latin',
      boostPhrases: ['half past ten', 'a|b'],
      boostWeight: 7.5,
      analysis: false,
      intent: true,
      intentChoices: ['book', 'cancel "all"'],
      sentiment: false,
      summary: true,
      summaryMaxLength: 40,
      keyterms: true,
      keytermKeywords: ['Lotus'],
      emotion: true,
      medical: false,
      profanity: true,
      hashKeywords: ['पिन'],
      codeSwitch: true,
    };
    expect(Object.fromEntries(transcriptionFields(all))).toEqual({
      response_format: 'verbose_json',
      language_code: 'hi',
      num_speakers: '2',
      speaker_id: 'true',
      output_script: 'Latin',
      boost_phrases: 'half past ten||a|b',
      boost_weight: '7.5',
      nlp_analysis: 'false',
      enable_intent_detection: 'true',
      intent_choices: '["book","cancel \\"all\\""]',
      enable_sentiment_analysis: 'false',
      enable_summarization: 'true',
      summary_max_length: '40',
      enable_keyterm_normalization: 'true',
      keyterm_keywords: '["Lotus"]',
      emotion: 'true',
      medical: 'false',
      profanity: 'true',
      hash_keywords: '["पिन"]',
      codeswitch: 'true',
    });
    expect(transcriptionFields({})).toEqual([['response_format', 'json']]);
  });

  test.each<{ options: TranscriptionOptions; format: string }>([
    { options: { numSpeakers: 1 }, format: 'verbose_json' },
    { options: { numSpeakers: 2, identifySpeakers: true }, format: 'verbose_json' },
    { options: { analysis: true }, format: 'verbose_json' },
    { options: { intent: true }, format: 'verbose_json' },
    { options: { sentiment: true }, format: 'verbose_json' },
    { options: { summary: true }, format: 'verbose_json' },
    { options: { keyterms: true }, format: 'verbose_json' },
    { options: { emotion: true, verbose: false }, format: 'verbose_json' },
    { options: { verbose: true }, format: 'verbose_json' },
    { options: { profanity: true, hashKeywords: ['x'], medical: true, codeSwitch: true, outputScript: 'Latin' }, format: 'json' },
    { options: { analysis: false, emotion: false }, format: 'json' },
  ])('ask for $format with $options [88]', ({ options, format }) => {
    expect(new Map(transcriptionFields(options)).get('response_format')).toBe(format);
  });

  test.each<TranscriptionOptions>([
    { identifySpeakers: true },
    { identifySpeakers: true, numSpeakers: 1 },
    { numSpeakers: 0 },
    { numSpeakers: 1.5 },
    { summaryMaxLength: -1 },
    { boostWeight: Number.NaN },
    { boostPhrases: ['fine', 'two||terms'] },
    { boostPhrases: ['two\nterms'] },
  ])('are refused where the documents rule them out: %j [87]', (options) => {
    expect(() => transcriptionFields(options)).toThrow(SpeechRequestError);
  });
});
