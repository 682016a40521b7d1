import { describe, expect, it } from 'vitest';
import { transcribeLines } from './post-transcription.ts';
import { ScriptedRecogniser } from './scripted-recogniser.ts';
import { testPlatform } from './setup.ts';
import { ToneSynthesizer } from './tone-engines.ts';

const recognition = new ScriptedRecogniser();
const test = testPlatform({ engines: { recognition, synthesis: new ToneSynthesizer() } });

const transcribe = (lines: readonly string[], fields: Readonly<Record<string, string>>) =>
  transcribeLines(test, recognition, lines, fields);

describe('output_script', () => {
  it.each(['Latin', 'LATIN', 'latin'])('writes every text in %s letters alone [66]', async (output_script) => {
    const fields = { output_script, language_code: 'hi', enable_summarization: 'true' };
    const { body } = await transcribe(['मुझे अपॉइंटमेंट चाहिए', 'कल दस बजे'], fields);
    expect(body.text).toBe('mujhe apointment chaahie kal das baje');
    const shown = [body.segments, body.words, body.nbest, body['nlp_analysis']];
    expect(JSON.stringify(shown)).not.toMatch(/\p{Script=Devanagari}/u);
    expect(body.words.map(({ word }) => word).join(' ')).toBe(body.text);
    expect(body.segments.map(({ text }) => text).join(' ')).toBe(body.text);
  });

  it.each([
    ['Devanagari', 'नमस्ते'],
    ['Bengali', 'নমস্তে'],
    ['Telugu', 'నమస్తే'],
    ['Tamil', 'நமஸ்தே'],
    ['Kannada', 'ನಮಸ್ತೇ'],
    ['Gujarati', 'નમસ્તે'],
    ['Gurmukhi', 'ਨਮਸ੍ਤੇ'],
    ['Odia', 'ନମସ୍ତେ'],
    ['Malayalam', 'നമസ്തേ'],
    ['ITRANS', 'namaste'],
    ['auto', 'नमस्ते'],
  ])('knows %s', async (output_script, text) => {
    expect((await transcribe(['नमस्ते'], { output_script, language_code: 'hi' })).body.text).toBe(text);
  });

  it('refuses any other script with 422 [66]', async () => {
    expect((await transcribe(['नमस्ते'], { output_script: 'Cyrillic' })).status).toBe(422);
  });

  it('leaves redacted terms redacted, whichever script they were given in [79]', async () => {
    const fields = { output_script: 'Latin', language_code: 'hi', hash_keywords: '["दिल्ली","Mumbai"]' };
    expect((await transcribe(['मैं दिल्ली और मुम्बइ में'], fields)).body.text).toBe('main **** aur **** men');
  });
});

describe('codeswitch', () => {
  it('writes English words in Latin script and numbers as digits, in text and words [80]', async () => {
    const lines = [{ text: 'मेरा डॉक्टर से', alternatives: ['डॉक्टर'] }, { text: 'अपॉइंटमेंट साढ़े दस बजे है' }];
    const { body } = await transcribeLines(test, recognition, lines, { codeswitch: 'true', language_code: 'hi' });
    expect(body.text).toBe('मेरा doctor से appointment 10:30 बजे है');
    expect(body.words.map(({ word }) => word).join(' ')).toBe(body.text);
    expect(body.nbest.map(({ text }) => text)).toContain('doctor appointment 10:30 बजे है');
    const half = body.words.find(({ word }) => word === '10:30')!;
    const [before, after] = [
      body.words.find(({ word }) => word === 'appointment')!,
      body.words.find(({ word }) => word === 'बजे')!,
    ];
    expect([half.start, half.end]).toEqual([before.end, after.start]);
  });

  it('leaves the transcript as it was heard without it', async () => {
    expect((await transcribe(['साढ़े दस बजे'], { language_code: 'hi' })).body.text).toBe('साढ़े दस बजे'.normalize('NFC'));
  });
});

it('medical corrects medical terms without any model value, in text and words [77]', async () => {
  const { body } = await transcribe(['i take met formin for dyabetes', 'and parasitamol'], { medical: 'true' });
  expect(body.text).toBe('i take metformin for diabetes and paracetamol');
  expect(body.words.map(({ word }) => word)).toContain('metformin');
});
