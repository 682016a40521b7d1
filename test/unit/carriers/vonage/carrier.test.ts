import { describe, expect, it } from 'vitest';
import type { WebhookDoor } from '../../../../src/carriers/carrier.ts';
import { speechFormats } from '../../../../src/carriers/open-carriers.ts';
import { vonage } from '../../../../src/carriers/vonage/carrier.ts';
import { VonageCodec } from '../../../../src/carriers/vonage/codec.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const answer = {
  url: 'wss://bot.example/carriers/vonage/stream/a.b.c',
  statusUrl: 'https://bot.example/carriers/vonage/status',
  callId: 'call_1',
  carrierCallId: 'u-1',
};

interface Endpoint {
  readonly 'content-type': string;
  readonly authorization?: { readonly type: string; readonly value: string };
}

/** What a gateway with this environment answers a call with, and prepares speech as. */
function configured(env: Record<string, string>) {
  const { carriers } = loadConfig({ env: { OFFHOOK_VONAGE_SIGNATURE_SECRET: 'secret', ...env }, files: [] });
  const config = carriers.get('vonage');
  if (config === undefined) throw new Error('vonage is not configured');
  const proofs = config.secrets['signatureSecret'] ?? [];
  const parts = { clock: new ManualClock(), gatewayUrl: () => 'https://bot.example' };
  const { answers, upgrade } = vonage.door(config, proofs, parts) as WebhookDoor;
  if (answers.by !== 'document') throw new Error('no document');
  const [connect] = JSON.parse(answers.stream(answer)) as [{ readonly endpoint: readonly [Endpoint] }];
  return { upgrade, endpoint: connect.endpoint[0], speech: speechFormats(carriers, [vonage]) };
}

describe('vonage.sampleRateHz', () => {
  it.each([
    [undefined, 16_000, 640, 16_000],
    ['8000', 8_000, 320, 8_000],
    ['16000', 16_000, 640, 16_000],
    ['24000', 24_000, 960, 16_000],
  ])('given as %s in the environment, asks for audio at %i Hz, and sends frames of %i bytes', (text, rateHz, bytes, speechHz) => {
    const { endpoint, speech } = configured(text === undefined ? {} : { OFFHOOK_VONAGE__SAMPLE_RATE_HZ: text });
    expect(endpoint['content-type']).toBe(`audio/l16;rate=${rateHz}`);
    expect(speech).toEqual([{ encoding: 'pcm16', rateHz: speechHz }]);

    const codec = new VonageCodec();
    const start = { event: 'websocket:connected', ...endpoint, 'call-uuid': 'u-1' };
    const format = { encoding: 'pcm16', rateHz };
    expect(codec.read(Buffer.from(JSON.stringify(start)), false)).toMatchObject({ inbound: format, outbound: format });
    const sent: number[] = [];
    const sendNothing = (): void => undefined;
    codec.audio(new Uint8Array(3 * bytes), {
      room: (length) => Buffer.alloc(length),
      send: (_, length) => void sent.push(length),
      sendText: sendNothing,
    });
    expect(sent).toEqual([bytes, bytes, bytes]);
  });

  it('is refused with the rates that there are', () => {
    const env = { OFFHOOK_VONAGE_SIGNATURE_SECRET: 'secret', OFFHOOK_VONAGE__SAMPLE_RATE_HZ: '11025' };
    const { problems } = loadConfig({ env, files: [] });
    expect(problems).toMatchObject([
      { key: 'vonage.sampleRateHz', message: expect.stringContaining('8000, 16000, 24000') as string },
    ]);
  });
});

describe('vonage.requireSocketAuth', () => {
  it('asks for nothing, and checks nothing, unless it is set', () => {
    const { endpoint, upgrade } = configured({});
    expect([endpoint.authorization, upgrade]).toEqual([undefined, undefined]);
  });

  it('has Vonage bring a header that opens its own socket alone', () => {
    const env = { OFFHOOK_VONAGE__REQUIRE_SOCKET_AUTH: 'true' };
    const { endpoint, upgrade } = configured(env);
    const { type, value = '' } = endpoint.authorization ?? {};
    expect([type, upgrade?.required]).toEqual(['custom', true]);
    const check = (url: string, headers: Record<string, string>) =>
      upgrade?.check({ urls: [url], headers, address: '192.0.2.1' });
    const own = answer.url.replace('wss', 'https');
    expect(check(own, { authorization: value })).toBe('good');
    expect(check(`${own}d`, { authorization: value })).toBe('wrong');
    expect(check(own, { authorization: 'Bearer guess' })).toBe('wrong');
    expect(check(own, {})).toBe('missing');
    // During a rotation sockets that were asked for with the old secret are still opened.
    const rotated = configured({ ...env, OFFHOOK_VONAGE_SIGNATURE_SECRET: 'new, secret' }).upgrade;
    expect(rotated?.check({ urls: [own], headers: { authorization: value }, address: '192.0.2.1' })).toBe('good');
  });
});
