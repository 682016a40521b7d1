import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeXml, sayAnswer, streamAnswer } from '../../../../src/carriers/twilio/answer.ts';

describe('streamAnswer', () => {
  it('connects the stream and says nothing after it', () => {
    expect(
      streamAnswer({ url: 'wss://h.test/carriers/twilio/stream/a.b.c', parameters: { callId: 'call_1', 'a"b': '<&' } }),
    ).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="wss://h.test/carriers/twilio/stream/a.b.c">' +
        '<Parameter name="callId" value="call_1"/><Parameter name="a&quot;b" value="&lt;&amp;"/></Stream></Connect></Response>',
    );
  });
});

describe('sayAnswer', () => {
  it.each([
    ['en', 'en-US'],
    ['hi', 'hi-IN'],
    ['en-GB', 'en-GB'],
  ])('speaks %s as %s and hangs up', (language, wire) => {
    expect(sayAnswer('Sorry & bye', language)).toContain(
      `<Response><Say language="${wire}">Sorry &amp; bye</Say><Hangup/></Response>`,
    );
  });
});

describe('escapeXml', () => {
  it('leaves no mark that could end a text or an attribute, nor one that XML cannot hold', () => {
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
});
