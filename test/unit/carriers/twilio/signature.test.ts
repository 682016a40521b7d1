import fc from 'fast-check';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { describe, expect, it, test } from 'vitest';
import { isSignedUpgrade, isSignedWebhook } from '../../../../src/carriers/twilio/webhook.ts';
import { Secret } from '../../../../src/config/secrets.ts';
import { signatures } from '../fixtures.ts';

const tokens = [new Secret(signatures.token)];
const body = { fields: signatures.params };

describe('isSignedWebhook', () => {
  test.each(signatures.cases)('accepts the published vector $note', ({ url, signature }) => {
    expect(isSignedWebhook(tokens, { signature, urls: [url], body })).toBe(true);
    expect(isSignedWebhook(tokens, { signature, urls: ['https://other.test', url], body })).toBe(true);
    expect(isSignedWebhook([new Secret('new'), ...tokens], { signature, urls: [url], body })).toBe(true);
  });

  test.each(signatures.cases)('refuses the vector $note when anything differs', ({ url, signature }) => {
    expect(isSignedWebhook([new Secret('54321')], { signature, urls: [url], body })).toBe(false);
    expect(isSignedWebhook([], { signature, urls: [url], body })).toBe(false);
    expect(isSignedWebhook(tokens, { signature: '', urls: [url], body })).toBe(false);
    expect(isSignedWebhook(tokens, { signature, urls: [`${url}1`], body })).toBe(false);
    expect(isSignedWebhook(tokens, { signature, urls: [], body })).toBe(false);
    expect(isSignedWebhook(tokens, { signature, urls: [url], body: { fields: { ...signatures.params, Digits: '1235' } } })).toBe(
      false,
    );
    expect(isSignedWebhook(tokens, { signature, urls: [url], body: { fields: { ...signatures.params, More: 'x' } } })).toBe(
      false,
    );
  });

  it('accepts a signed JSON body and refuses a changed one', () => {
    const { url, body: raw, signature } = signatures.json;
    expect(isSignedWebhook(tokens, { signature, urls: [url], body: { raw } })).toBe(true);
    expect(isSignedWebhook(tokens, { signature, urls: [url], body: { raw: `${raw} ` } })).toBe(false);
  });
});

it('takes the fields together as the library does, whatever they are', () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom('a', 'b', 'é', '\u{10FFFF}', '__proto__'));
  const fields = fc.dictionary(texts, fc.oneof(texts, fc.array(texts)), { noNullPrototype: true });
  fc.assert(
    fc.property(fields, (given) => {
      const url = 'https://voice.test/carriers/twilio/voice';
      const signature = getExpectedTwilioSignature(signatures.token, url, given);
      expect(isSignedWebhook(tokens, { signature, urls: [url], body: { fields: given } })).toBe(true);
    }),
  );
});

describe('isSignedUpgrade', () => {
  const sign = (url: string) => getExpectedTwilioSignature(signatures.token, url, {});

  test.each(['wss://h.test/s/t', 'wss://h.test/s/t/', 'wss://h.test:443/s/t', 'wss://h.test:443/s/t/', 'https://h.test/s/t'])(
    'accepts a signature over %s',
    (url) => {
      expect(isSignedUpgrade(tokens, sign(url), ['https://h.test/s/t'])).toBe(true);
      expect(isSignedUpgrade(tokens, sign(url), ['https://h.test/s/t/'])).toBe(true);
    },
  );

  test.each(['ws://127.0.0.1:8080/s/t', 'wss://127.0.0.1:8080/s/t/'])('accepts a signature over %s on loopback', (url) => {
    expect(isSignedUpgrade(tokens, sign(url), ['http://127.0.0.1:8080/s/t'])).toBe(true);
  });

  test.each(['wss://h.test/s/u', 'wss://evil.test/s/t', 'ws://h.test/s/t'])('refuses a signature over %s', (url) => {
    expect(isSignedUpgrade(tokens, sign(url), ['https://h.test/s/t'])).toBe(false);
  });
});
