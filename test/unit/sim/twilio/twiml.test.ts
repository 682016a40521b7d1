import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { readTwiml } from '../../../../src/sim/twilio/twiml.ts';

it('reads the verbs in order, with what belongs to them', () => {
  const document = `<?xml version="1.0" encoding="UTF-8"?>
    <!-- a comment -->
    <Response>
      <Say language="en-IN">Fish &amp; chips &#8212; &quot;now&quot;</Say>
      <Connect><Stream url="wss://a.example/x?y=1&amp;z=2"><Parameter name="k" value="v&lt;1&gt;"/></Stream></Connect>
      <Play digits="12w3"/>
      <Pause length="2"/>
      <Redirect>/again</Redirect>
      <Gather><Say>inside</Say></Gather>
      <Hangup/>
    </Response>`;
  expect(readTwiml(document)).toEqual([
    { verb: 'say', text: 'Fish & chips — "now"' },
    {
      verb: 'stream',
      url: 'wss://a.example/x?y=1&z=2',
      attributes: { url: 'wss://a.example/x?y=1&z=2' },
      parameters: { k: 'v<1>' },
    },
    { verb: 'play', url: '', digits: '12w3' },
    { verb: 'pause', seconds: 2 },
    { verb: 'redirect', url: '/again' },
    { verb: 'unknown', name: 'Gather' },
    { verb: 'hang-up' },
  ]);
});

test.each([
  { note: 'nothing', document: '' },
  { note: 'a page', document: '<html><body>Not found</body></html>' },
  { note: 'JSON', document: '{"error":"no"}' },
  { note: 'a verb that is never closed', document: '<Response><Say>hello</Response>' },
  { note: 'no end', document: '<Response><Hangup/>' },
  { note: 'a bare ampersand in a tag', document: '<Response><Stream url="a"b"/></Response>' },
])('refuses $note', ({ document }) => {
  expect(() => readTwiml(document)).toThrow(SyntaxError);
});

it('reads back any text that was escaped', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
      const [verb] = readTwiml(`<Response><Connect><Stream url="${escaped}"/></Connect></Response>`);
      expect(verb).toMatchObject({ verb: 'stream', url: text });
    }),
  );
});
