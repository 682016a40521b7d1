import { describe, expect, it } from 'vitest';
import { documentUrl, type WebhookDoor } from '../../../src/carriers/carrier.ts';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import type { WireEvent } from '../../../src/carriers/media-codec.ts';
import { signalwire, signalwireDialect } from '../../../src/carriers/signalwire/carrier.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { signedForm } from '../../../src/sim/twilio/carrier.ts';
import { expectSurvival, jsonSink } from './fixtures.ts';

const KEY = 'the-signing-key';
const STREAM = '2a5b0f0e-9d1c-4f3e-8e7b-6f2b6f0f6d11';
const CALL = 'b3877c40-da60-4998-90ad-b792e98472af';
// As in signalwire/docs, cxml/voice/stream: ids are lower-case UUIDs, and only the start names the stream.
const start = (encoding = 'audio/x-mulaw', sampleRate = 8000, more: object = {}) => ({
  event: 'start',
  sequenceNumber: '1',
  start: {
    streamSid: STREAM,
    accountSid: 'f4d1c1a0-8f0e-4a3b-9c63-1d6c1f7f2a11',
    callSid: CALL,
    tracks: ['inbound'],
    mediaFormat: { encoding, sampleRate, channels: 1 },
    ...more,
  },
});
const media = { event: 'media', sequenceNumber: '2', media: { track: 'inbound', chunk: '1', timestamp: '0', payload: '//8=' } };
const read = (codec: JsonCodec, message: unknown): WireEvent => codec.read(Buffer.from(JSON.stringify(message)), false);

describe('the media protocol of SignalWire', () => {
  const started = (): JsonCodec => {
    const codec = new JsonCodec(signalwireDialect('little'));
    read(codec, start());
    return codec;
  };

  it('reads a session whose messages do not name their stream', () => {
    const codec = new JsonCodec(signalwireDialect('little'));
    const reads: readonly [unknown, object][] = [
      [{ event: 'connected', protocol: 'Call', version: '0.2.0' }, { type: 'connected' }],
      [
        start('audio/x-mulaw', 8000, { customParameters: { callId: 'call_1' } }),
        { type: 'started', streamId: STREAM, carrierCallId: CALL, parameters: { callId: 'call_1' } },
      ],
      [media, { type: 'audio', timestampMs: 0 }],
      [
        { event: 'dtmf', sequenceNumber: '123', streamSid: STREAM, dtmf: { digit: '5', duration: 2000 } },
        { type: 'digit', digit: '5' },
      ],
      [
        { event: 'mark', streamSid: STREAM, mark: { name: '0.a.160' } },
        { type: 'mark', name: '0.a.160' },
      ],
      [{ event: 'stop', sequenceNumber: '999' }, { type: 'stopped' }],
    ];
    for (const [message, expected] of reads) expect(read(codec, message)).toMatchObject(expected);
  });

  it.each([
    ['inbound', 'outbound'],
    // "There will be both `inbound_track` and `outbound_track` events", says the page; its examples have the short names.
    ['inbound_track', 'outbound_track'],
  ])('tells the two sides of a both_tracks stream apart: %s, %s', (caller, other) => {
    const codec = new JsonCodec(signalwireDialect('little'));
    read(codec, start('audio/x-mulaw', 8000, { tracks: ['inbound', 'outbound'] }));
    const heard = [caller, other, caller, other].map((track, at) => {
      const payload = Buffer.alloc(160, at).toString('base64');
      const event = read(codec, { ...media, media: { track, chunk: `${at}`, timestamp: `${at * 10}`, payload } });
      return event.type === 'audio' ? [event.track ?? 'caller', event.payload[0], event.timestampMs] : event.type;
    });
    expect(heard).toEqual([
      ['caller', 0, 0],
      ['other', 1, 10],
      ['caller', 2, 20],
      ['other', 3, 30],
    ]);
  });

  it.each([
    ['little', 'audio/x-L16', 16_000, 'pcm16'],
    ['big', 'audio/x-L16', 24_000, 'pcm16be'],
    ['big', 'audio/x-mulaw', 8000, 'mulaw'],
  ] as const)('takes audio as its start says, in %s-endian byte order: %s at %i Hz', (byteOrder, encoding, rateHz, expected) => {
    const format = { encoding: expected, rateHz };
    expect(read(new JsonCodec(signalwireDialect(byteOrder)), start(encoding, rateHz))).toMatchObject({
      inbound: format,
      outbound: format,
    });
  });

  it('presses keys by one message each', () => {
    const codec = new JsonCodec(signalwireDialect('little'));
    read(codec, start());
    const to = jsonSink();
    codec.digits('1#', to);
    expect(to.sent).toEqual([
      { event: 'dtmf', streamSid: STREAM, dtmf: { digit: '1' } },
      { event: 'dtmf', streamSid: STREAM, dtmf: { digit: '#' } },
    ]);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(started, Buffer.from(JSON.stringify(media)), false, 'connected', 'start', 'media', 'dtmf', 'mark'));
});

describe('the webhooks of SignalWire', () => {
  const config = { settings: signalwire.settings.parse({ codec: 'L16@16000h' }), secrets: {} };
  const door = signalwire.door(config, [new Secret(KEY)], {
    clock: new ManualClock(),
    gatewayUrl: () => 'https://bots.example.org',
  });
  if (door.kind !== 'webhook' || door.answers.by !== 'document') throw new TypeError('SignalWire has other answers');
  const { answers }: WebhookDoor = door;
  const url = 'https://bots.example.org/carriers/signalwire/voice';
  const fields = { CallSid: CALL, From: '+15550100001', To: '+15550100002', CallStatus: 'ringing', Direction: 'inbound' };
  const signed = (key: string, header: string) =>
    door.isSigned(
      { urls: [url], address: '127.0.0.1', headers: signedForm(url, key, fields, header).headers },
      { raw: '', parsed: fields },
    );

  it('are signed with the signing key, in a header of its own', () => {
    expect(signed(KEY, 'x-signalwire-signature')).toBe(true);
    expect(signed('another', 'x-signalwire-signature')).toBe(false);
    expect(signed(KEY, 'x-twilio-signature')).toBe(false);
    expect(door.header).toBe('X-SignalWire-Signature');
  });

  it('are answered with a stream in the configured codec, played as it is queued', () => {
    if (answers.by !== 'document') throw new TypeError('SignalWire has other answers');
    const document = answers.stream({ url: 'wss://bots.example.org/s/t', statusUrl: '', callId: 'call_1', carrierCallId: CALL });
    expect(document).toContain('<Stream url="wss://bots.example.org/s/t" codec="L16@16000h" realtime="false">');
    expect(document).toContain('<Parameter name="callId" value="call_1"/>');
    // What is fetched for a dial, a transfer and a join.
    expect(answers.fetched?.({ kind: 'stream', value: 'tok', callId: 'call_1' })).toContain(
      'wss://bots.example.org/carriers/signalwire/stream/tok',
    );
    expect(answers.fetched?.({ kind: 'dial', value: '+15550199', callId: undefined })).toContain('<Number>+15550199</Number>');
    expect(answers.fetched?.({ kind: 'conference', value: 'room', callId: undefined })).toContain('>room</Conference>');
    expect(answers.fetched?.({ kind: 'toString', value: '', callId: undefined })).toBeUndefined();
  });

  it.each([
    [{ projectId: CALL }, {}, 'apiToken'],
    [{}, { apiToken: ['t'] }, 'projectId'],
    [{ projectId: CALL }, { apiToken: ['t'] }, 'spaceUrl'],
    [{ projectId: CALL, spaceUrl: 'https://example.signalwire.com' }, { apiToken: ['t'] }, undefined],
  ] as const)('say what the account lacks: %j %j', (given, secrets: Record<string, readonly string[]>, setting) => {
    const held = Object.fromEntries(
      Object.entries(secrets).map(([name, texts]) => [name, texts.map((text) => new Secret(text))]),
    );
    const problems = signalwire.problems?.({ settings: signalwire.settings.parse(given), secrets: held }) ?? [];
    expect(problems.map((problem) => problem.setting)).toEqual(setting === undefined ? [] : [setting]);
  });

  it('name documents by addresses that a proxy leaves alone', () => {
    expect(documentUrl('https://bots.example.org', 'signalwire', { kind: 'dial', value: 'sip:a@b', callId: undefined })).toMatch(
      /^https:\/\/bots\.example\.org\/carriers\/signalwire\/document\/dial\/[\w-]+$/u,
    );
  });
});
