import { describe, expect, it, test } from 'vitest';
import { readLanguages } from '../../../../src/speech/asr/languages.ts';

describe('languages', () => {
  test.each([
    { note: 'objects', body: { languages: [{ code: 'hi', name: 'Hindi', script: 'Devanagari' }] } },
    { note: 'a map of names', body: { languages: { hi: 'Hindi' } } },
    { note: 'a map of objects', body: { languages: { hi: { name: 'Hindi' } } } },
    { note: 'older services', body: { direct_languages: [], proxied_languages: { hi: 'Hindi' }, total: 1 } },
  ])('reads $note', ({ body }) => {
    expect(readLanguages(JSON.stringify(body))).toEqual({
      languages: [{ code: 'hi', name: 'Hindi' }],
      models: [],
      features: [],
      raw: body,
    });
  });

  it('reads how each is recognised, where the platform says', () => {
    const languages = [{ code: 'ta', name: 'Tamil', recognition: 'none' }];
    expect(readLanguages(JSON.stringify({ languages })).languages).toEqual(languages);
  });

  it('reads bare codes, models and features', () => {
    const body = { languages: ['hi'], model_aliases: { 'whisper-1': 'own' }, features: ['codeswitch'] };
    const read = readLanguages(JSON.stringify(body));
    expect(read.languages).toEqual([{ code: 'hi', name: 'hi' }]);
    expect(read.models).toEqual(['whisper-1']);
    expect(read.features).toEqual(['codeswitch']);
    expect(readLanguages('["hi"]').languages).toEqual(read.languages);
  });

  test.each(['', '{}', '{"languages":[]}', '7'])('refuses %s', (text) => {
    expect(() => readLanguages(text)).toThrow(/language/u);
  });
});
