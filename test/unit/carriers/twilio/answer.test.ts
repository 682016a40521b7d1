import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultPhrases } from '../../../../src/config/bot-phrases.ts';
import { languages } from '../../../../src/platform/languages.ts';
import { sayAnswer, streamAnswer } from '../../../../src/carriers/twilio/answer.ts';
import { escapeXml } from '../../../../src/carriers/xml.ts';

it('streamAnswer connects the stream and says nothing after it', () => {
  expect(streamAnswer({ url: 'wss://h.test/carriers/twilio/stream/a.b.c', parameters: { callId: 'call_1', 'a"b': '<&' } })).toBe(
    '<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="wss://h.test/carriers/twilio/stream/a.b.c">' +
      '<Parameter name="callId" value="call_1"/><Parameter name="a&quot;b" value="&lt;&amp;"/></Stream></Connect></Response>',
  );
});

describe('sayAnswer', () => {
  it.each([
    ['en', 'en-US'],
    ['hi', 'hi-IN'],
    ['ta', 'ta-IN'],
    ['fr', 'fr-FR'],
    ['de', 'de-DE'],
    ['es', 'es-ES'],
    ['pt', 'pt-BR'],
    ['ja', 'ja-JP'],
    ['ar', 'arb'],
    ['zh', 'cmn-CN'],
    ['no', 'nb-NO'],
    ['en-GB', 'en-GB'],
    ['es-mx', 'es-MX'],
    ['fr-CH', 'fr-FR'],
  ])('speaks %s as %s and hangs up', (language, wire) => {
    expect(sayAnswer('Sorry & bye', language)).toContain(
      `<Response><Say language="${wire}">Sorry &amp; bye</Say><Hangup/></Response>`,
    );
  });

  it('names no language that the carrier does not have, of all that a bot may speak', () => {
    const types = readFileSync('node_modules/twilio/lib/twiml/VoiceResponse.d.ts', 'utf8');
    const known = /type SayLanguage = ([^;]+);/u.exec(types)![1]!;
    const named = languages.flatMap(({ code }) => /language="[^"]+"/u.exec(sayAnswer('Bye', code)) ?? []);
    expect(named.filter((attribute) => !known.includes(attribute.slice('language='.length)))).toEqual([]);
  });

  it('leaves the language out where the carrier has no voice for it', () => {
    expect(sayAnswer('Samahani, kwaheri', 'sw')).toContain('<Say>Samahani, kwaheri</Say>');
  });

  it('says an English sentence where the carrier could read none of the letters', () => {
    expect(sayAnswer('ბოდიში', 'ka')).toContain('<Say language="en-US">Sorry, something went wrong');
  });

  it('says the built-in sentences of a language that has none in English', () => {
    const { overflow } = defaultPhrases('ar');
    expect(sayAnswer(overflow, 'ar')).toContain(`<Say language="en-US">${overflow}</Say>`);
    expect(sayAnswer(overflow, 'en-IN')).toContain(`<Say language="en-IN">${overflow}</Say>`);
  });
});

it('escapeXml leaves no mark that could end a text or an attribute, nor one that XML cannot hold', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const escaped = escapeXml(`${text.replaceAll(/[\t\n\r]/g, '')}\u0000\uD800\u001F<"`);
      expect(escaped).not.toMatch(/[<>"'\p{Cc}]/u);
      expect(escaped.replaceAll(/&(amp|lt|gt|quot|apos);/g, '')).not.toContain('&');
      expect(Buffer.from(escaped, 'utf8').toString('utf8')).toBe(escaped);
    }),
  );
  expect(escapeXml('a\nb')).toBe('a\nb');
});
