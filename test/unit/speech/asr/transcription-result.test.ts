import { describe, expect, it, test } from 'vitest';
import { readTranscription } from '../../../../src/speech/asr/transcription-result.ts';
import type { SpeechAnswer } from '../../../../src/speech/client/requests.ts';
import { SpeechProtocolError } from '../../../../src/speech/client/errors.ts';

const answerOf = (text: string, requestId: string | undefined): SpeechAnswer => ({
  status: 200,
  text,
  requestId,
  attempts: 1,
  mask: (said) => said,
});

function read(answer: unknown) {
  return readTranscription(answerOf(JSON.stringify(answer), 'req-header'));
}

const documented = {
  success: true,
  request_id: 'req-body',
  text: 'hello there',
  detected_language: 'en',
  detected_language_name: 'English',
  audio_duration: 1.5,
  inference_time_ms: 12,
  segments: [
    {
      start: 0,
      end: 1.5,
      text: 'hello there',
      speaker: 'SPEAKER_00',
      confidence: 0.9,
      emotion: 'neutral',
      emotion_confidence: 0.7,
    },
  ],
  words: [
    { word: 'hello', start: 0, end: 0.5, confidence: 0.8 },
    { word: 'there', start: 0.6, end: 1.5, confidence: 0.7 },
  ],
  speakers: ['SPEAKER_00'],
  speaker_turns: [{ start: 0, end: 1.5, speaker: 'SPEAKER_00' }],
  speakers_identified: [{ speaker: 'SPEAKER_00', name: 'Asha', confidence: 0.81 }],
  emotion: { label: 'neutral', score: 0.7 },
  emotion_summary: { dominant_emotion: 'neutral', emotion_distribution: { neutral: 80, happy: 20 }, avg_confidence: 0.7 },
  nlp_analysis: {
    intent: 'greeting',
    sentiment: 'positive',
    summary: 'A greeting.',
    keyterms: ['hello'],
    normalized_text: 'Hello there',
  },
  nbest: [{ text: 'hello there', confidence: 0.9 }],
};

describe('transcription result', () => {
  it('reads the documented answer', () => {
    expect(read(documented)).toEqual({
      text: 'hello there',
      requestId: 'req-header',
      attempts: 1,
      segments: [
        {
          startS: 0,
          endS: 1.5,
          text: 'hello there',
          speaker: 'SPEAKER_00',
          confidence: 0.9,
          emotion: 'neutral',
          emotionConfidence: 0.7,
        },
      ],
      words: [
        { word: 'hello', startS: 0, endS: 0.5, confidence: 0.8 },
        { word: 'there', startS: 0.6, endS: 1.5, confidence: 0.7 },
      ],
      detectedLanguage: 'en',
      detectedLanguageName: 'English',
      durationS: 1.5,
      inferenceMs: 12,
      speakers: ['SPEAKER_00'],
      speakerTurns: [{ startS: 0, endS: 1.5, speaker: 'SPEAKER_00' }],
      speakersIdentified: [{ speaker: 'SPEAKER_00', name: 'Asha', confidence: 0.81 }],
      emotion: { label: 'neutral', score: 0.7 },
      emotionSummary: { dominant: 'neutral', distribution: { neutral: 80, happy: 20 }, averageConfidence: 0.7 },
      analysis: {
        intent: 'greeting',
        sentiment: 'positive',
        summary: 'A greeting.',
        keyterms: ['hello'],
        normalizedText: 'Hello there',
      },
      nbest: [{ text: 'hello there', confidence: 0.9 }],
      warnings: [],
      unrecognised: [],
      raw: documented,
    });
  });

  it('tells the request id of the short answer from the header, and of a verbose one without header from the body [89]', () => {
    expect(read({ text: 'x' }).requestId).toBe('req-header');
    expect(readTranscription(answerOf(JSON.stringify(documented), undefined)).requestId).toBe('req-body');
    expect(readTranscription(answerOf('{"text":"x"}', undefined)).requestId).toBeUndefined();
  });

  it('leaves out missing and null fields, and keeps unknown ones [90]', () => {
    const names = Object.keys(documented).filter((name) => name !== 'text');
    const nothing = read({ text: 'x' });
    expect(nothing).toEqual({
      text: 'x',
      requestId: 'req-header',
      attempts: 1,
      segments: [],
      words: [],
      speakers: [],
      speakerTurns: [],
      speakersIdentified: [],
      nbest: [],
      warnings: [],
      unrecognised: [],
      raw: { text: 'x' },
    });
    const nulls = { text: 'x', ...Object.fromEntries(names.map((name) => [name, null])) };
    expect({ ...read(nulls), raw: nothing.raw }).toEqual(nothing);
    expect(read({ text: 'x', new_feature: { a: [1] } }).raw).toEqual({ text: 'x', new_feature: { a: [1] } });
  });

  it('keeps the transcript when a feature has an unknown shape [90]', () => {
    const names = Object.keys(documented).filter((name) => !['text', 'segments', 'words'].includes(name));
    for (const odd of [17, 'odd', [{}], { deep: { odd: true } }, [[1]], true]) {
      const answer = { ...documented, ...Object.fromEntries(names.map((name) => [name, odd])) };
      expect(read(answer)).toMatchObject({ text: 'hello there', segments: [{ text: 'hello there' }], words: [{}, {}] });
    }
  });

  test.each([
    {
      note: 'a score for a confidence',
      answer: { words: [{ word: 'x', start: 0, end: 1, score: 0.4 }] },
      read: { words: [{ confidence: 0.4 }] },
    },
    {
      note: 'intent and sentiment as objects',
      answer: {
        nlp_analysis: { intent: { label: 'book', confidence: 1 }, sentiment: { label: 'calm', score: 0.2, explanation: '' } },
      },
      read: { analysis: { intent: 'book', sentiment: 'calm' } },
    },
    { note: 'readings as words', answer: { nbest: ['a', 'b'] }, read: { nbest: [{ text: 'a' }, { text: 'b' }] } },
    {
      note: 'readings with a score',
      answer: { nbest: [{ transcript: 'a', score: 1 }] },
      read: { nbest: [{ text: 'a', confidence: 1 }] },
    },
    {
      note: 'speakers as a map of names',
      answer: { speakers_identified: { SPEAKER_00: 'Asha', SPEAKER_01: 'unknown' } },
      read: {
        speakersIdentified: [
          { speaker: 'SPEAKER_00', name: 'Asha' },
          { speaker: 'SPEAKER_01', name: undefined },
        ],
      },
    },
    {
      note: 'speakers as a map of matches',
      answer: { speakers_identified: { SPEAKER_00: { name: 'Asha', confidence: 0.5 } } },
      read: { speakersIdentified: [{ speaker: 'SPEAKER_00', name: 'Asha', confidence: 0.5 }] },
    },
  ])('reads $note [90]', ({ answer, read: expected }) => {
    expect(read({ text: 'x', ...answer })).toMatchObject(expected);
  });

  test.each(['<html>busy</html>', '', 'null', '[]', '{"no":"text"}', '{"text":"x","segments":[{"start":"0"}]}'])(
    'refuses %j, and keeps it on the error',
    (answer) => {
      expect(() => readTranscription(answerOf(answer, 'req-header'))).toThrow(SpeechProtocolError);
      expect(() => readTranscription(answerOf(answer, 'req-header'))).toThrow(
        expect.objectContaining({ requestId: 'req-header', body: answer }),
      );
    },
  );
});
