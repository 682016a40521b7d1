import { describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { transcribeLines } from './post-transcription.ts';
import { ScriptedRecogniser } from './scripted-recogniser.ts';
import { startTestPlatform, testPlatform } from './setup.ts';
import { sayTones, ToneSynthesizer } from './tone-engines.ts';

const recognition = new ScriptedRecogniser();
const test = testPlatform({ engines: { recognition, synthesis: new ToneSynthesizer() } });

const heard = [
  { text: 'My PASSWORD is swordfish', alternatives: ['my pass word is swordfish'] },
  { text: 'and the account' },
  { text: 'number has passwords' },
];

describe('hash_keywords', () => {
  it('hides terms in any case, split, whole words only, behind four asterisks in every text [79]', async () => {
    const hash_keywords = JSON.stringify(['password', 'Account Number']);
    const { status, body } = await transcribeLines(test, recognition, heard, { hash_keywords });
    expect(status).toBe(200);
    expect(body.text).toBe('My **** is swordfish and the **** has passwords');
    expect(body.segments.map(({ text }) => text)).toEqual(['My **** is swordfish', 'and the ****', '**** has passwords']);
    expect(body.words.map(({ word }) => word)).toEqual([
      'My',
      '****',
      'is',
      'swordfish',
      'and',
      'the',
      '****',
      '****',
      'has',
      'passwords',
    ]);
    expect(body.nbest.map(({ text }) => text)).toEqual([
      'My **** is swordfish and the **** has passwords',
      'my **** is swordfish and the **** has passwords',
    ]);
  });

  it('hides terms in the minimal answer', async () => {
    const fields = { hash_keywords: '["swordfish"]', response_format: 'json' };
    const { body } = await transcribeLines(test, recognition, heard, fields);
    expect(body).toEqual({ text: 'My PASSWORD is **** and the account number has passwords' });
  });

  it('hides Hindi terms at the borders of Hindi words', async () => {
    const fields = { hash_keywords: '["राम"]', language_code: 'hi' };
    const { body } = await transcribeLines(test, recognition, ['राम जी रामायण'], fields);
    expect([body.text, body.words.map(({ word }) => word)]).toEqual(['**** जी रामायण', ['****', 'जी', 'रामायण']]);
  });

  it('takes a JSON array of strings and nothing else, as keyterm_keywords does [199]', async () => {
    for (const name of ['hash_keywords', 'keyterm_keywords', 'intent_choices']) {
      for (const value of ['password', '{"a":1}', '[1]', '"a"']) {
        const { status, body } = await transcribeLines(test, recognition, [], { [name]: value });
        expect([status, body.detail]).toEqual([422, [expect.objectContaining({ loc: expect.arrayContaining(['body', name]) })]]);
      }
    }
  });
});

it('lists in repeated parts count as a JSON array does [199]', async () => {
  const form = new FormData();
  for (const term of ['alpha', 'charlie']) form.append('hash_keywords[]', term);
  form.append('file', new Blob([Buffer.from(wavFile(sayTones(['alpha', 'bravo', 'charlie'], 16_000), 16_000))]), 'audio.wav');
  await using tones = await startTestPlatform();
  const response = await fetch(`${tones.platform.asrUrl}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tones.token()}` },
    body: form,
  });
  expect(await response.json()).toEqual({ text: '**** bravo ****' });
});

describe('profanity', () => {
  it('hides profane words behind asterisks in text, segments, words and nbest [78]', async () => {
    const { body } = await transcribeLines(test, recognition, ['what the fuck', 'वह हरामी है'], { profanity: 'true' });
    expect(body.text).toBe('what the **** वह *** है');
    expect(body.segments.map(({ text }) => text)).toEqual(['what the ****', 'वह *** है']);
    expect(body.words.map(({ word }) => word)).toEqual(['what', 'the', '****', 'वह', '***', 'है']);
    expect(body.nbest[0]!.text).toBe(body.text);
  });

  it('leaves them when it is not asked for', async () => {
    expect((await transcribeLines(test, recognition, ['what the fuck'], {})).body.text).toBe('what the fuck');
  });
});
