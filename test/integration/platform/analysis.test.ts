import { describe, expect, it } from 'vitest';
import type { AnalysisRequest } from '../../../src/platform/engines/analyse/port.ts';
import { builtInAnalyser } from '../../../src/platform/engines/analyse/built-in-analyser.ts';
import { transcribeLines } from './post-transcription.ts';
import { ScriptedRecogniser } from './scripted-recogniser.ts';
import { testPlatform } from './setup.ts';
import { ToneSynthesizer } from './tone-engines.ts';

const recognition = new ScriptedRecogniser();
const requests: AnalysisRequest[] = [];
const analyser = {
  analyse: (request: AnalysisRequest, signal: AbortSignal) => {
    requests.push(request);
    return builtInAnalyser.analyse(request, signal);
  },
};
const test = testPlatform({ engines: { recognition, analyser, synthesis: new ToneSynthesizer() } });

const lines = [
  'i want to book an appointment with doctor sharma',
  'the last visit was very good',
  'my zomatto card is swordfish',
];
async function analysisOf(fields: Readonly<Record<string, string>>, said: readonly string[] = lines) {
  const { status, body } = await transcribeLines(test, recognition, said, fields);
  expect(status).toBe(200);
  return body['nlp_analysis'];
}

describe('nlp_analysis', () => {
  it('holds intent, sentiment, summary and keyterms [69]', async () => {
    expect(await analysisOf({ nlp_analysis: 'true' })).toEqual({
      intent: 'book_appointment',
      sentiment: 'positive',
      summary: lines[0],
      keyterms: expect.arrayContaining(['appointment', 'doctor sharma']),
    });
  });

  it('is the same in Hindi', async () => {
    const said = ['मुझे डॉक्टर से मिलने का समय चाहिए', 'पिछली बार सेवा बहुत अच्छी थी'];
    const fields = { nlp_analysis: 'true', language_code: 'hi' };
    expect(await analysisOf(fields, said)).toMatchObject({ intent: 'book_appointment', sentiment: 'positive' });
  });

  it.each([
    ['enable_intent_detection', ['intent']],
    ['enable_sentiment_analysis', ['sentiment']],
    ['enable_summarization', ['summary']],
    ['enable_keyterm_normalization', ['keyterms', 'normalized_text']],
  ])('holds no more than %s asks for [70]', async (flag, parts) => {
    expect(Object.keys((await analysisOf({ [flag]: 'true' })) as object).sort()).toEqual(parts);
  });

  it('is absent when nothing asks for it, and from the short answer [70]', async () => {
    requests.length = 0;
    expect(await analysisOf({})).toBeUndefined();
    const { body } = await transcribeLines(test, recognition, lines, { nlp_analysis: 'true', response_format: 'json' });
    expect([Object.keys(body), requests]).toEqual([['text'], []]);
  });

  it('keeps the intent to the choices, which are a JSON array or a 422 [71]', async () => {
    const fields = { enable_intent_detection: 'true', intent_choices: '["complaint","Schedule an Appointment"]' };
    expect(await analysisOf(fields)).toEqual({ intent: 'Schedule an Appointment' });
    const wrong = await transcribeLines(test, recognition, [], { ...fields, intent_choices: 'complaint' });
    expect(wrong.status).toBe(422);
  });

  it('caps the summary in words; another type is a 422 [72]', async () => {
    const fields = { enable_summarization: 'true', summary_max_length: '4' };
    expect(await analysisOf(fields)).toEqual({ summary: 'i want to book' });
    for (const summary_max_length of ['short', '0', '1.5']) {
      expect((await transcribeLines(test, recognition, [], { ...fields, summary_max_length })).status).toBe(422);
    }
  });

  it('spells names as the glossary does, in keyterms and normalized_text [73]', async () => {
    const fields = { enable_keyterm_normalization: 'true', keyterm_keywords: '["Zomato","Dr. Sharma"]' };
    const { keyterms, normalized_text } = (await analysisOf(fields)) as { keyterms: string[]; normalized_text: string };
    expect(keyterms[0]).toBe('Zomato');
    expect(normalized_text).toContain('My Zomato card');
  });

  it('is worked out once however many flags ask for it [195]', async () => {
    requests.length = 0;
    const flags = ['intent_detection', 'sentiment_analysis', 'summarization', 'keyterm_normalization'];
    const fields = Object.fromEntries([...flags.map((flag) => [`enable_${flag}`, 'true']), ['nlp_analysis', 'true']]);
    expect(Object.keys((await analysisOf(fields)) as object)).toHaveLength(5);
    expect(requests).toHaveLength(1);
  });

  it('neither sees nor tells a redacted term [79]', async () => {
    requests.length = 0;
    const fields = { nlp_analysis: 'true', enable_keyterm_normalization: 'true', hash_keywords: '["swordfish","zomatto card"]' };
    const glossary = { keyterm_keywords: '["Swordfish"]' };
    expect(JSON.stringify(await analysisOf({ ...fields, ...glossary }))).not.toMatch(/swordfish|zomatto|card/i);
    expect(requests[0]!.utterances.at(-1)).toBe('my **** is ****');
  });
});
