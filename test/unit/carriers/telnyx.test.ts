import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import type { WireEvent } from '../../../src/carriers/media-codec.ts';
import { readClientState, TelnyxAccount, writeClientState } from '../../../src/carriers/telnyx/account.ts';
import { telnyx } from '../../../src/carriers/telnyx/carrier.ts';
import { TelnyxControl } from '../../../src/carriers/telnyx/control.ts';
import { streamAuthToken, streamFields, telnyxDialect, type TelnyxMedia } from '../../../src/carriers/telnyx/dialect.ts';
import {
  isSignature,
  isSignedWebhook,
  publicKeys,
  readIncomingCall,
  readStatusEvent,
} from '../../../src/carriers/telnyx/webhook.ts';
import { speakFields } from '../../../src/carriers/telnyx/answer.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { SimulatedRest } from '../../../src/sim/dialling-carrier.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectSurvival, jsonSink } from './fixtures.ts';

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
// Messages as in developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket.
const STREAM = '32DE0DEA-53CB-4B21-89A4-9E1819C043BC';
const start = (encoding = 'PCMU', sample_rate: number | string = 8000) => ({
  event: 'start',
  sequence_number: '1',
  start: {
    user_id: '3e6f995f-85f7-4705-9741-53b116d28237',
    call_control_id: 'v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ',
    call_session_id: 'ff55a038-6f5d-11ef-9692-02420aeffb1f',
    from: '+13122010094',
    to: '+13122123456',
    tags: ['TAG1'],
    client_state: 'aGF2ZSBhIG5pY2UgZGF5ID1d',
    custom_parameters: { one: '1' },
    media_format: { encoding, sample_rate, channels: 1 },
  },
  stream_id: STREAM,
});
const media = (chunk: number | string | undefined, payload: Uint8Array, more: object = {}) => ({
  event: 'media',
  sequence_number: '4',
  media: { track: 'inbound', chunk, timestamp: '5', payload: Buffer.from(payload).toString('base64') },
  stream_id: STREAM,
  ...more,
});
const pcmu: TelnyxMedia = { codec: 'PCMU', rateHz: 8000, byteOrder: 'big' };
const read = (codec: JsonCodec, message: unknown): WireEvent => codec.read(Buffer.from(JSON.stringify(message)), false);

function started(declared: TelnyxMedia = pcmu, encoding = 'PCMU', rate: number | string = 8000): JsonCodec {
  const codec = new JsonCodec(telnyxDialect(declared));
  expect(read(codec, start(encoding, rate)).type).toBe('started');
  return codec;
}

describe('the media protocol of Telnyx', () => {
  it('reads a whole session', () => {
    const codec = new JsonCodec(telnyxDialect(pcmu));
    const frame = new Uint8Array(160).fill(7);
    const reads: readonly [unknown, object][] = [
      [{ event: 'connected', version: '1.0.0', 'x-telnyx-streaming-auth-token': 't' }, { type: 'connected' }],
      [start(), { type: 'started', streamId: STREAM, carrierCallId: start().start.call_control_id, parameters: { one: '1' } }],
      [media('1', frame), { type: 'audio', timestampMs: 5 }],
      [
        { event: 'dtmf', stream_id: STREAM, occurred_at: '2022-02-02T22:25:27Z', sequence_number: '5', dtmf: { digit: '1' } },
        { type: 'digit', digit: '1' },
      ],
      [
        { event: 'mark', sequence_number: '6', stream_id: STREAM, mark: { name: '0.a.160' } },
        { type: 'mark', name: '0.a.160' },
      ],
      [{ event: 'news' }, { type: 'ignored', name: 'news' }],
      [media('2', frame, { media: { track: 'other', chunk: '1', timestamp: '5', payload: 'AAAA' } }), { type: 'ignored' }],
      [
        { event: 'stop', sequence_number: '7', stream_id: STREAM, stop: { user_id: 'x', call_control_id: 'y' } },
        { type: 'stopped' },
      ],
    ];
    for (const [message, expected] of reads) expect(read(codec, message)).toMatchObject(expected);
  });

  test.each([
    ['PCMU', 8000, 'mulaw'],
    ['PCMA', '8000', 'alaw'],
    ['L16', 16_000, 'pcm16be'],
  ] as const)('decodes by the codec of the leg, %s at %s Hz, and sends what was declared', (encoding, rate, inbound) => {
    const codec = new JsonCodec(telnyxDialect(pcmu));
    const found = read(codec, start(encoding, rate));
    expect(found).toMatchObject({
      inbound: { encoding: inbound, rateHz: Number(rate) },
      outbound: { encoding: 'mulaw', rateHz: 8000 },
    });
  });

  test.each([
    [
      { codec: 'PCMA', rateHz: 16_000, byteOrder: 'big' },
      { encoding: 'alaw', rateHz: 8000 },
    ],
    [
      { codec: 'L16', rateHz: 16_000, byteOrder: 'big' },
      { encoding: 'pcm16be', rateHz: 16_000 },
    ],
    [
      { codec: 'L16', rateHz: 24_000, byteOrder: 'little' },
      { encoding: 'pcm16', rateHz: 24_000 },
    ],
  ] as const)('sends as %j says', (declared, outbound) => {
    const codec = new JsonCodec(telnyxDialect(declared));
    expect(read(codec, start('PCMA'))).toMatchObject({ inbound: { encoding: 'alaw', rateHz: 8000 }, outbound });
  });

  it('refuses a leg whose codec it cannot decode, and says which it can', () => {
    for (const encoding of ['OPUS', 'G722', 'AMR-WB'])
      expect(read(new JsonCodec(telnyxDialect(pcmu)), start(encoding, 16_000))).toMatchObject({
        type: 'rejected',
        fatal: true,
        problem: expect.stringMatching(/accepted is pcmu, pcma, l16/u) as string,
      });
  });

  it('puts frames in order, by the template of a message and without it', () => {
    const codec = started();
    const heard = [1, 2, 4, 3, 5].map((chunk) => {
      const result = read(codec, media(String(chunk), new Uint8Array(160).fill(chunk)));
      return result.type === 'audio' ? [...new Set(result.payload)] : result.type;
    });
    expect(heard).toEqual([[1], [2], 'alive', [3, 4], [5]]);
  });

  it.each([
    ['each track counts its own frames', (at: number) => 1 + Math.floor(at / 2)],
    // What the documents say of `chunk` fits either.
    ['both tracks count together', (at: number) => 1 + at],
  ])('hears both sides of a both_tracks stream whole, each in its order, where %s', (_, chunkOf) => {
    const codec = started();
    // Of each side, one frame overtakes another.
    const overtaken: Readonly<Record<number, number>> = { 10: 12, 12: 10, 21: 23, 23: 21 };
    const frames = Array.from({ length: 40 }, (__, index) => {
      const at = overtaken[index] ?? index;
      const track = at % 2 === 0 ? 'inbound' : 'outbound';
      const payload = Buffer.alloc(160, at).toString('base64');
      const about = { track, chunk: String(chunkOf(at)), timestamp: String(at * 10), payload };
      return media(undefined, Buffer.alloc(0), { media: about });
    });
    const heard: Record<'caller' | 'other', number[]> = { caller: [], other: [] };
    for (const message of frames) {
      const event = read(codec, message);
      if (event.type === 'audio') heard[event.track ?? 'caller'].push(...new Set(event.payload));
    }
    // What waits in line when the stream ends is not heard: two frames at most.
    for (const [side, first] of [
      ['caller', 0],
      ['other', 1],
    ] as const) {
      expect(heard[side].length).toBeGreaterThanOrEqual(18);
      expect(heard[side]).toEqual(Array.from(heard[side], (__, at) => first + at * 2));
    }
  });

  it('says who talks to whom', () => {
    expect(read(new JsonCodec(telnyxDialect(pcmu)), start())).toMatchObject({
      call: { from: '+13122010094', to: '+13122123456', direction: 'inbound' },
    });
  });

  it('counts an error that Telnyx reports, whatever its code is written as', () => {
    const codec = started();
    for (const code of [100_003, '100003'])
      expect(
        read(codec, { event: 'error', stream_id: STREAM, payload: { code, title: 'malformed_frame', detail: 'no payload' } }),
      ).toEqual({
        type: 'rejected',
        problem: 'the carrier reports an error: 100003 malformed_frame no payload',
      });
    expect(read(codec, { event: 'error' }).type).toBe('rejected');
    expect(read(codec, media('1', new Uint8Array(160))).type).toBe('audio');
  });

  it('sends audio, marks and clears without naming the stream', () => {
    const codec = started();
    const to = jsonSink();
    codec.audio(Uint8Array.of(1, 2, 3), to);
    codec.mark('m1', to);
    codec.clear(to);
    expect(to.sent).toEqual([
      { event: 'media', media: { payload: 'AQID' } },
      { event: 'mark', mark: { name: 'm1' } },
      { event: 'clear' },
    ]);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      started,
      Buffer.from(JSON.stringify(media(undefined, new Uint8Array(160)))),
      false,
      'start',
      'media',
      'dtmf',
      'mark',
      'error',
      'stop',
      'payload',
      'chunk',
    ));
});

describe('the signature of Telnyx', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyText = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const keys = publicKeys([new Secret(keyText)]);
  const wallMs = 1_760_000_000_000;
  const raw = '{"data":{"event_type":"call.initiated"}}';
  const signed = (timestamp = String(wallMs / 1000), body = raw) => ({
    timestamp,
    raw: body,
    signature: sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString('base64'),
  });

  it('is right for what was signed now, up to five minutes ago or ahead', () => {
    expect(isSignature(signed().signature)).toBe(true);
    for (const ageS of [0, 299, -299]) expect(isSignedWebhook(keys, signed(String(wallMs / 1000 - ageS)), wallMs)).toBe(true);
    for (const ageS of [301, -301, 1e6]) expect(isSignedWebhook(keys, signed(String(wallMs / 1000 - ageS)), wallMs)).toBe(false);
  });

  it('is wrong for another body, another time, another key, and for what is no signature', () => {
    const good = signed();
    const other = generateKeyPairSync('ed25519')
      .publicKey.export({ format: 'der', type: 'spki' })
      .subarray(-32)
      .toString('base64');
    expect(isSignedWebhook(keys, { ...good, raw: `${raw} ` }, wallMs)).toBe(false);
    expect(isSignedWebhook(keys, { ...good, timestamp: String(wallMs / 1000 + 1) }, wallMs)).toBe(false);
    expect(isSignedWebhook(publicKeys([new Secret(other)]), good, wallMs)).toBe(false);
    expect(isSignedWebhook(publicKeys([new Secret(other), new Secret(keyText)]), good, wallMs)).toBe(true);
    for (const signature of ['', 'AAAA', good.signature.slice(0, -4), 'x'.repeat(88)])
      expect(isSignedWebhook(keys, { ...good, signature }, wallMs)).toBe(false);
    for (const timestamp of ['', 'now', '-1', '1e9', ` ${wallMs / 1000}`])
      expect(isSignedWebhook(keys, { ...good, timestamp }, wallMs)).toBe(false);
    // A development secret is no key: it verifies nothing.
    expect(isSignedWebhook(publicKeys([new Secret('0'.repeat(64))]), good, wallMs)).toBe(false);
  });
});

it('a webhook of Telnyx that is replayed has the same nonce in every spelling of its signature', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const config = { settings: telnyx.settings.parse({}), secrets: { publicKey: [new Secret(key)] } };
  const clock = new ManualClock();
  const door = telnyx.door(config, [new Secret(key)], { clock, gatewayUrl: () => '' });
  if (door.kind !== 'webhook') throw new Error('no webhook');
  const timestamp = String(Math.floor(clock.wallMs() / 1000));
  const raw = '{}';
  const signature = sign(null, Buffer.from(`${timestamp}|${raw}`), privateKey).toString('base64');
  const bytes = Buffer.from(signature, 'base64');
  const spellings = Array.from(BASE64, (last) => `${signature.slice(0, 85)}${last}==`).filter((each) =>
    Buffer.from(each, 'base64').equals(bytes),
  );
  expect(spellings).toHaveLength(16);
  const asked = (each: string) => ({
    urls: [],
    address: '',
    headers: { 'telnyx-signature-ed25519': each, 'telnyx-timestamp': timestamp },
  });
  for (const each of spellings) expect(await door.isSigned(asked(each), { raw, parsed: {} })).toBe(true);
  expect(new Set(spellings.map((each) => door.nonceOf?.(asked(each)))).size).toBe(1);
});

it('a transfer at Telnyx is repeated under the same command id, and the next has another', async () => {
  const asked: Record<string, unknown>[] = [];
  await using rest = await SimulatedRest.start(Date.now, async (request, reply) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += String(part);
    if (request.url?.endsWith('/transfer') === true) asked.push(JSON.parse(body) as Record<string, unknown>);
    reply(asked.length === 1 ? 503 : 200, {});
  });
  const account = new TelnyxAccount({ apiUrl: rest.url, apiKey: new Secret('key') }, systemClock);
  const control = new TelnyxControl(account, { dialling: undefined, webhookUrl: () => '', forkFields: () => ({}) });
  const { signal } = new AbortController();
  await control.transfer('v3:1', '+15550100001', signal);
  await control.transfer('v3:1', '+15550100001', signal);
  const [first, again, next] = asked.map(({ command_id: id }) => id);
  expect(asked).toHaveLength(3);
  expect(first).toMatch(/^[\da-f-]{36}$/u);
  expect(again).toBe(first);
  expect(next).not.toBe(first);
});

describe('the webhooks of Telnyx', () => {
  const event = (event_type: string, payload: object = {}) => ({
    data: {
      event_type,
      id: '0ccc7b54',
      occurred_at: '2026-02-02T22:25:27.521992Z',
      payload: { call_control_id: 'v3:1', ...payload },
      record_type: 'event',
    },
    meta: { attempt: 1, delivered_to: 'https://bots.example.org/carriers/telnyx/voice' },
  });

  it('tell a call that comes in, and no other event is one', () => {
    const incoming = { direction: 'incoming', state: 'parked', from: '+447700900000', to: '+442079460000', client_state: null };
    expect(readIncomingCall(event('call.initiated', incoming), 'clinic')).toEqual({
      carrier: 'telnyx',
      carrierCallId: 'v3:1',
      from: '+447700900000',
      to: '+442079460000',
      direction: 'inbound',
      botName: 'clinic',
    });
    for (const other of [
      event('call.initiated', { ...incoming, direction: 'outgoing' }),
      event('call.answered', incoming),
      {},
      null,
      'x',
    ])
      expect(readIncomingCall(other, undefined)).toBeUndefined();
  });

  test.each([
    ['call.initiated', { direction: 'outgoing' }, { state: 'queued' }],
    ['call.answered', {}, { state: 'answered' }],
    ['call.hangup', { hangup_cause: 'normal_clearing', sip_hangup_cause: '200' }, { state: 'ended', outcome: 'completed' }],
    ['call.hangup', { hangup_cause: 'time_limit' }, { state: 'ended', outcome: 'completed' }],
    [
      'call.hangup',
      { hangup_cause: 'user_busy', sip_hangup_cause: '486' },
      { state: 'ended', outcome: 'busy', cause: 'SIP 486' },
    ],
    ['call.hangup', { hangup_cause: 'timeout', sip_hangup_cause: 'unspecified' }, { state: 'ended', outcome: 'no-answer' }],
    [
      'call.hangup',
      { hangup_cause: 'call_rejected', sip_hangup_cause: 603 },
      { state: 'ended', outcome: 'rejected', cause: 'SIP 603' },
    ],
    ['call.hangup', { hangup_cause: 'originator_cancel' }, { state: 'ended', outcome: 'cancelled' }],
    [
      'call.hangup',
      { hangup_cause: 'not_found', sip_hangup_cause: '404' },
      { state: 'ended', outcome: 'failed', cause: 'not_found' },
    ],
    [
      'call.hangup',
      { hangup_cause: 'unspecified', sip_hangup_cause: '480' },
      { state: 'ended', outcome: 'no-answer', cause: 'unspecified' },
    ],
    ['call.hangup', {}, { state: 'ended', outcome: 'failed' }],
    ['streaming.started', {}, undefined],
  ])('say how far a call has come: %s %j', (type, payload, progress) => {
    const status = readStatusEvent(event(type, payload));
    expect(status).toMatchObject({ carrierCallId: 'v3:1', status: type, terminal: type === 'call.hangup' });
    expect(status?.progress).toEqual(progress);
  });

  test.each([
    ['call.machine.detection.ended', 'human', 'person'],
    ['call.machine.detection.ended', 'machine', 'machine'],
    ['call.machine.detection.ended', 'not_sure', 'unknown'],
    ['call.machine.greeting.ended', 'beep_detected', 'machine-done'],
    ['call.machine.premium.detection.ended', 'human_business', 'person'],
    ['call.machine.premium.detection.ended', 'fax_detected', 'fax'],
    ['call.machine.premium.greeting.ended', 'no_beep_detected', 'machine-done'],
    ['call.machine.detection.ended', 'constructor', undefined],
    ['call.answered', 'human', undefined],
  ])('say who answered: %s %s', (type, result, witness) => {
    expect(readStatusEvent(event(type, { result }))?.witness).toBe(witness);
  });

  it('tell a stream that could not be opened', () => {
    expect(readStatusEvent(event('streaming.failed', { failure_reason: 'connection_failed' }))).toMatchObject({
      streamError: 'connection_failed',
      terminal: false,
    });
  });

  it('bring back what is to be done next, and nothing that is not ours', () => {
    for (const state of [{ dial: 'call_1' }, { next: 'say', text: 'Sorry.', language: 'en' }, { next: 'hang-up' }] as const)
      expect(readClientState(writeClientState(state))).toEqual(state);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.base64String()), (text) => {
        expect(readClientState(text)).toBeUndefined();
      }),
    );
  });
});

describe('what is asked of Telnyx', () => {
  const key = new Secret('KEY0123');
  const url = 'wss://bots.example.org/carriers/telnyx/stream/a.b.c';

  it('is raw audio in the declared codec, with a proof that follows from the address', () => {
    expect(streamFields(url, pcmu, key)).toMatchObject({
      stream_url: url,
      stream_track: 'inbound_track',
      stream_bidirectional_mode: 'rtp',
      stream_bidirectional_codec: 'PCMU',
      stream_auth_token: streamAuthToken(url, key),
    });
    expect(streamFields(url, { codec: 'L16', rateHz: 16_000, byteOrder: 'big' }, key)).toMatchObject({
      stream_codec: 'L16',
      stream_bidirectional_codec: 'L16',
      stream_bidirectional_sampling_rate: 16_000,
    });
    // Behind a proxy the host differs.
    expect(streamAuthToken(url.replace('bots.example.org', '10.0.0.1'), key)).toBe(streamAuthToken(url, key));
    expect(streamAuthToken(`${url}d`, key)).not.toBe(streamAuthToken(url, key));
    expect(JSON.stringify(streamFields(url, pcmu, key))).not.toContain('KEY0123');
  });

  it('speaks in a language that its voice has', () => {
    expect(speakFields('Bonjour.', 'fr-CA')).toMatchObject({ payload: 'Bonjour.', language: 'fr-CA' });
    expect(speakFields('Guten Tag.', 'de')).toMatchObject({ language: 'de-DE' });
    expect(speakFields('สวัสดี', 'th')).toMatchObject({
      language: 'en-US',
      payload: expect.stringMatching(/^[\x20-\x7e]+$/u) as string,
    });
  });

  it.each([
    [{ publicKey: ['no key'] }, 'publicKey'],
    [{ publicKey: [Buffer.alloc(32, 1).toString('base64')] }, 'apiKey'],
    [{ publicKey: [Buffer.alloc(32, 1).toString('base64')], apiKey: ['k'] }, undefined],
    [{}, undefined],
  ])('says what is wrong with the settings %j', (secrets: Record<string, string[]>, setting) => {
    const given = Object.fromEntries(
      Object.entries(secrets).map(([name, texts]) => [name, texts.map((text) => new Secret(text))]),
    );
    const problems = telnyx.problems?.({ settings: telnyx.settings.parse({}), secrets: given }) ?? [];
    expect(problems.map((problem) => problem.setting)).toEqual(setting === undefined ? [] : [setting]);
  });
});
