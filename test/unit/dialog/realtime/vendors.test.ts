import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { MULAW_8K } from '../../../../src/audio/format.ts';
import { realtimeVendors } from '../../../../src/dialog/realtime/registry.ts';
import type { RealtimeVendor, SessionSetup, VendorDialect } from '../../../../src/dialog/realtime/vendor.ts';
import { thorough } from '../../../support/thorough.ts';

const { openai, azure, gemini } = realtimeVendors;

function dialectOf(vendor: RealtimeVendor, setup: Partial<SessionSetup> = {}): VendorDialect {
  const formats = vendor.formats({ rateHz: 8_000, speech: MULAW_8K });
  return vendor.connect({
    model: vendor.defaultModel,
    voice: undefined,
    instructions: 'Answer.',
    functions: [],
    maxTokens: 400,
    reasoningEffort: undefined,
    turns: 'offhook',
    ...formats,
    ...setup,
  });
}

describe('addresses and keys', () => {
  test.each([
    { vendor: openai, url: undefined, is: 'wss://api.openai.com/v1/realtime?model=m', header: { authorization: 'Bearer key' } },
    {
      vendor: openai,
      url: 'wss://own.example/v1/realtime?user=2',
      is: 'wss://own.example/v1/realtime?user=2&model=m',
      header: undefined,
    },
    {
      vendor: azure,
      url: 'wss://res.openai.azure.com/openai/v1/realtime',
      is: 'wss://res.openai.azure.com/openai/v1/realtime?model=m',
      header: { 'api-key': 'key' },
    },
    {
      vendor: gemini,
      url: undefined,
      is: 'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
      header: { 'x-goog-api-key': 'key' },
    },
  ])('are those of $vendor.title at $url', ({ vendor, url, is, header }) => {
    expect(vendor.url({ url, model: 'm' })).toBe(is);
    if (header !== undefined) expect(vendor.headers('key')).toEqual(header);
  });
});

describe('OpenAI', () => {
  const read = (event: object): unknown => dialectOf(openai).read(JSON.stringify(event))[0];

  it('counts each token once', () => {
    const usage = {
      input_token_details: {
        text_tokens: 100,
        audio_tokens: 60,
        cached_tokens: 70,
        cached_tokens_details: { text_tokens: 60, audio_tokens: 10 },
      },
      output_token_details: { text_tokens: 9, audio_tokens: 31 },
    };
    expect(read({ type: 'response.done', response: { id: 'r', status: 'completed', usage } })).toMatchObject({
      usage: {
        'input-text-tokens': 40,
        'input-audio-tokens': 50,
        'cached-tokens': 70,
        'output-text-tokens': 9,
        'output-audio-tokens': 31,
      },
    });
  });

  test.each([
    { note: 'a wrong key', error: { code: 'invalid_api_key' }, is: { type: 'failed', kind: 'auth' } },
    { note: 'the end of the hour', error: { code: 'session_expired' }, is: { type: 'leaving' } },
    { note: 'nothing to cancel', error: { code: 'response_cancel_not_active' }, is: { type: 'ignored' } },
    { note: 'a failing server', error: { type: 'server_error' }, is: { type: 'failed', kind: 'unavailable' } },
    { note: 'settings that it refuses', error: { type: 'invalid_request_error' }, is: { type: 'failed', kind: 'request' } },
  ])('takes $note for what it is', ({ error, is }) => {
    expect(read({ type: 'error', error })).toMatchObject(is);
  });

  it('understands the names of events from before GA, which other servers use', () => {
    const delta = Buffer.from([1, 2]).toString('base64');
    expect(read({ type: 'response.audio.delta', response_id: 'r', item_id: 'i', delta })).toEqual({
      type: 'audio',
      response: 'r',
      item: 'i',
      audio: Buffer.from([1, 2]),
    });
  });

  it('deletes a speech of which nothing was heard', () => {
    const sent = dialectOf(openai)
      .heard('item', { ms: 0, text: '' })
      .map((frame) => JSON.parse(frame) as unknown);
    expect(sent).toEqual([{ type: 'conversation.item.delete', item_id: 'item' }]);
  });
});

describe('Gemini Live', () => {
  const audio = { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AAAA' } }] } };

  it('ends an answer once, whether it was interrupted or is complete', () => {
    const dialect = dialectOf(gemini);
    dialect.respond();
    const types = (message: object): string[] => dialect.read(JSON.stringify(message)).map(({ type }) => type);
    expect(types({ serverContent: audio })).toEqual(['response', 'audio']);
    expect(types({ serverContent: { interrupted: true } })).toEqual(['response-done']);
    expect(types({ serverContent: { turnComplete: true } })).toEqual(['ignored']);
    dialect.audio(new Uint8Array(2), true);
    dialect.commit();
    expect(types({ serverContent: { ...audio, turnComplete: true } })).toEqual(['response', 'audio', 'response-done']);
  });

  it('begins one activity for a turn, however often it is withdrawn', () => {
    const dialect = dialectOf(gemini);
    const sent = [...dialect.audio(new Uint8Array(2), true), ...dialect.drop(), ...dialect.audio(new Uint8Array(2), true)];
    expect(sent.filter((frame) => frame.includes('activityStart'))).toHaveLength(1);
    expect(dialect.commit()).toEqual(['{"realtimeInput":{"activityEnd":{}}}']);
  });

  it('tells that it goes away, and when', () => {
    expect(dialectOf(gemini).read('{"goAway":{"timeLeft":"9.5s"}}')).toEqual([{ type: 'leaving', inMs: 9_500 }]);
  });
});

describe.each([openai, gemini])('$title', (vendor) => {
  it('survives whatever a server sends', () => {
    const types = ['response.done', 'error', 'response.output_item.done', 'response.output_audio.delta', 'session.updated'];
    const names = [
      'type',
      'response',
      'item',
      'error',
      'delta',
      'serverContent',
      'toolCall',
      'goAway',
      'usageMetadata',
      'modelTurn',
      'parts',
    ];
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        fc.constant(null),
        fc.string(),
        fc.double(),
        fc.constantFrom(...types),
        fc.array(tie('any'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5 }),
    })).object;
    const frame = fc.oneof(
      fc.string(),
      value.map((each) => JSON.stringify(each)),
    );
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), (frames) => {
        const dialect = dialectOf(vendor);
        for (const each of frames) expect(Array.isArray(dialect.read(each))).toBe(true);
      }),
      { numRuns: thorough(150, 5_000) },
    );
  });
});
