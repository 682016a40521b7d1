import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { basicCredentials } from '../../../src/carriers/proofs.ts';
import type { CarrierRequest, SocketDoor } from '../../../src/carriers/carrier.ts';
import { exotel } from '../../../src/carriers/exotel/carrier.ts';
import { ExotelCodec } from '../../../src/carriers/exotel/codec.ts';
import { isProof, provenStatusUrl, readReport } from '../../../src/carriers/exotel/reports.ts';
import type { WireEvent } from '../../../src/carriers/media-codec.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { expectSurvival, jsonSink } from './fixtures.ts';

/** developer.exotel.com/docs/agentstream/websocket-protocol, with made-up ids: snake_case, and text for every number. */
const snake = {
  event: 'start',
  sequence_number: '1',
  stream_sid: 'st-1',
  start: {
    stream_sid: 'st-1',
    call_sid: 'c-1',
    account_sid: 'acme1',
    from: '+919876543210',
    to: '+918047491899',
    custom_parameters: { bot: 'clinic' },
    media_format: { encoding: 'audio/x-raw', sample_rate: '8000', bit_rate: '16' },
  },
};
/** github.com/exotel/Agent-Stream, docs/AGENTSTREAM_WSS_PROTOCOL.md: camelCase, and numbers. */
const camel = {
  event: 'start',
  sequenceNumber: 1,
  streamSid: 'st-1',
  start: {
    streamSid: 'st-1',
    callSid: 'c-1',
    accountSid: 'acme1',
    from: '+919876543210',
    to: '+918047491899',
    customParameters: { bot: 'clinic' },
    mediaFormat: { encoding: 'raw', sampleRate: 8000, bitRate: 16 },
  },
};
const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const codecAt = (rateHz = 8_000, chunkBytes = 3_200): ExotelCodec => new ExotelCodec({ rateHz, chunkBytes });

function started(start: unknown = snake): ExotelCodec {
  const codec = codecAt();
  expect(codec.read(text(start), false).type).toBe('started');
  return codec;
}

function startOf(format: object, codec = codecAt()): WireEvent {
  return codec.read(text({ ...snake, start: { ...snake.start, media_format: format } }), false);
}

describe('ExotelCodec', () => {
  it.each([
    ['snake_case, all of it text', snake],
    ['camelCase, with numbers', camel],
  ])('reads a start in %s', (_, start) => {
    const pcm = { encoding: 'pcm16', rateHz: 8_000 };
    expect(codecAt().read(text(start), false)).toEqual({
      type: 'started',
      streamId: 'st-1',
      carrierCallId: 'c-1',
      inbound: pcm,
      outbound: pcm,
      parameters: { bot: 'clinic' },
      call: { from: '+919876543210', to: '+918047491899', direction: 'inbound' },
      capabilities: { frameMs: 20, messageMs: 200 },
      mismatch: undefined,
    });
  });

  it('reads a start whose fields are at its root, under Event', () => {
    const flat = { Event: 'start', stream_sid: 'st-1', call_sid: 'c-1', media_format: { encoding: '', sample_rate: '16000' } };
    expect(codecAt(16_000).read(text(flat), false)).toMatchObject({
      streamId: 'st-1',
      carrierCallId: 'c-1',
      inbound: { encoding: 'pcm16', rateHz: 16_000 },
      mismatch: undefined,
    });
  });

  it.each([
    ['audio/x-raw', 'pcm16'],
    ['raw', 'pcm16'],
    ['base64', 'pcm16'],
    ['audio/L16;rate=8000', 'pcm16'],
    ['audio/x-mulaw;rate=8000', 'mulaw'],
    ['mulaw', 'mulaw'],
  ])('takes the encoding %s for %s', (encoding, read) => {
    expect(startOf({ encoding, sample_rate: '8000' })).toMatchObject({ inbound: { encoding: read, rateHz: 8_000 } });
  });

  it.each([
    ['pcm at 8 kHz', 'raw', 8_000, { frameMs: 20, messageMs: 200 }],
    ['pcm at 16 kHz', 'raw', 16_000, { frameMs: 20, messageMs: 100 }],
    ['pcm at 24 kHz', 'raw', 24_000, { frameMs: 20, messageMs: 80 }],
    ['mu-law at 8 kHz', 'mulaw', 8_000, { frameMs: 40, messageMs: 400 }],
  ])('sends %s in whole multiples of 320 bytes, 3,200 at least', (_, encoding, rateHz, capabilities) => {
    expect(startOf({ encoding, sample_rate: String(rateHz) }, codecAt(rateHz))).toMatchObject({ capabilities });
  });

  it('believes a start with another rate than was asked for, and says so', () => {
    const result = startOf({ encoding: 'raw', sample_rate: '16000' });
    expect(result).toMatchObject({ inbound: { rateHz: 16_000 }, mismatch: expect.stringContaining('sampleRateHz is 8000') });
  });

  it.each([
    ['a rate that it has not', { encoding: 'raw', sample_rate: '44100' }],
    ['two channels', { encoding: 'raw', sample_rate: '8000', channels: 2 }],
  ])('refuses %s', (_, format) => {
    expect(startOf(format)).toMatchObject({ type: 'rejected', fatal: true });
  });

  it.each([{ stream_sid: undefined }, { call_sid: '' }])('refuses a start with %j', (lacking) => {
    const start = { ...snake, stream_sid: undefined, start: { ...snake.start, ...lacking } };
    expect(codecAt().read(text(start), false)).toMatchObject({ type: 'rejected', fatal: true });
  });

  it('reads what follows, in text and in numbers', () => {
    const codec = started();
    const pcm = Buffer.from(Int16Array.from({ length: 800 }, (_, at) => at * 7).buffer);
    const media = (timestamp: unknown, chunk: unknown) => ({
      event: 'media',
      sequence_number: '3',
      stream_sid: 'st-1',
      media: { chunk, timestamp, payload: pcm.toString('base64') },
    });
    for (const [index, message] of [media('200', '2'), media('300', '3'), media(400, 4)].entries()) {
      const heard = codec.read(text(message), false);
      expect(heard).toMatchObject({ type: 'audio', timestampMs: 200 + index * 100 });
      expect(heard.type === 'audio' && Buffer.from(heard.payload).equals(pcm)).toBe(true);
    }
    const reads = [
      [{ event: 'connected' }, { type: 'connected' }],
      [
        { event: 'dtmf', stream_sid: 'st-1', dtmf: { digit: '5', duration: '100' } },
        { type: 'digit', digit: '5' },
      ],
      [
        { event: 'mark', stream_sid: 'st-1', mark: { name: '0.a.1' } },
        { type: 'mark', name: '0.a.1' },
      ],
      // Not in the documents; one sample of the carrier knows it.
      [
        { event: 'clear', stream_sid: 'st-1' },
        { type: 'ignored', name: 'clear' },
      ],
      [
        { event: 'stop', stop: { call_sid: 'c-1', reason: 'callended' } },
        { type: 'stopped', reason: 'callended' },
      ],
    ] as const;
    for (const [message, read] of reads) expect(codec.read(text(message), false)).toMatchObject(read);
    expect(started().read(text({ event: 'closed' }), false)).toMatchObject({ type: 'stopped' });
  });

  it('sends in snake_case what began in it, counted, and every number as text', () => {
    const codec = started();
    const to = jsonSink();
    codec.audio(Buffer.alloc(3_200, 1), to);
    codec.mark('0.a.1', to);
    codec.audio(Buffer.alloc(640, 2), to);
    codec.clear(to);
    const payload = (length: number, value: number) => Buffer.alloc(length, value).toString('base64');
    expect(to.sent).toEqual([
      {
        event: 'media',
        sequence_number: '1',
        stream_sid: 'st-1',
        media: { chunk: '1', timestamp: '0', payload: payload(3_200, 1) },
      },
      { event: 'mark', sequence_number: '2', stream_sid: 'st-1', mark: { name: '0.a.1' } },
      {
        event: 'media',
        sequence_number: '3',
        stream_sid: 'st-1',
        media: { chunk: '2', timestamp: '200', payload: payload(640, 2) },
      },
      { event: 'clear', sequence_number: '4', stream_sid: 'st-1' },
    ]);
  });

  it('sends in camelCase what began in it', () => {
    const codec = started(camel);
    const to = jsonSink();
    codec.audio(Buffer.alloc(320), to);
    codec.clear(to);
    expect(to.sent).toEqual([
      {
        event: 'media',
        sequenceNumber: '1',
        streamSid: 'st-1',
        media: { chunk: '1', timestamp: '0', sequenceNumber: '1', payload: Buffer.alloc(320).toString('base64') },
      },
      { event: 'clear', sequenceNumber: '2', streamSid: 'st-1' },
    ]);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      started,
      text({ event: 'media', media: { payload: 'AAAAAAAA', timestamp: '9' } }),
      false,
      'start',
      'media',
      'stop',
      'mark',
      'dtmf',
      'stream_sid',
      'call_sid',
      'media_format',
      'payload',
    ));
});

const password = new Secret('pass:word');
const doorWith = (settings: Record<string, unknown> = {}): SocketDoor => {
  const door = exotel.door({ settings: exotel.settings.parse(settings), secrets: {} }, [new Secret('next'), password], {
    clock: { nowMs: () => 0, wallMs: () => 0, after: () => ({ cancel: () => undefined }) },
    gatewayUrl: () => '',
  });
  if (door.kind !== 'socket') throw new Error('no socket door');
  return door;
};
const asked = (more: Partial<CarrierRequest> = {}): CarrierRequest => ({
  urls: ['https://bot.example/carriers/exotel/media/clinic'],
  headers: { authorization: basicCredentials('offhook', 'pass:word') },
  address: '203.0.113.7',
  ...more,
});

describe('the media socket of Exotel', () => {
  it('is let in by its credentials, and asked for its call', () => {
    expect(doorWith().readCall(asked(), 'clinic')).toBe('at-start');
    expect(doorWith().readCall(asked({ headers: {} }), 'clinic')).toBe(401);
    expect(doorWith({ streamUser: 'other' }).readCall(asked(), 'clinic')).toBe(401);
  });

  it.each([
    ['203.0.113.7', 'at-start'],
    ['::ffff:203.0.113.7', 'at-start'],
    ['198.51.100.200', 'at-start'],
    ['2001:db8::1', 'at-start'],
    ['203.0.113.8', 401],
    ['2001:db9::1', 401],
    ['unknown', 401],
  ])('is let in from the addresses of the setting: %s', (address, answer) => {
    const allowedAddresses = '203.0.113.7, 198.51.100.0/24,2001:db8::/32';
    expect(doorWith({ allowedAddresses }).readCall(asked({ address }), undefined)).toBe(answer);
  });

  it('names the entries of the setting that are none', () => {
    const wrong = (allowedAddresses: string) => exotel.problems?.({ settings: { allowedAddresses }, secrets: {} });
    expect(wrong('203.0.113.7,198.51.100.0/24')).toEqual([]);
    for (const entry of ['example.com', '203.0.113.7/33', '203.0.113'])
      expect(wrong(`203.0.113.7, ${entry}`)).toMatchObject([
        { setting: 'allowedAddresses', message: expect.stringContaining(entry) },
      ]);
  });

  it('wants all of the account, or nothing of it', () => {
    const secrets = { apiKey: [password], apiToken: [password], streamPassword: [password] };
    const problems = (settings: object, given: object) =>
      exotel.problems?.({ settings: exotel.settings.parse(settings), secrets: given as typeof secrets })?.length;
    expect(problems({ accountSid: 'acme1' }, secrets)).toBe(0);
    expect(problems({ accountSid: 'acme1' }, { ...secrets, apiToken: [] })).toBe(1);
    expect(problems({ accountSid: 'acme1' }, { ...secrets, streamPassword: [] })).toBe(1);
    expect(problems({}, secrets)).toBe(1);
    expect(problems({}, { streamPassword: [password] })).toBe(0);
  });
});

describe('reports of Exotel', () => {
  const reports = doorWith().reports;
  const address = provenStatusUrl('https://bot.example/carriers/exotel/status/call_1', password);
  const isProven = (url: string) => reports?.isSigned(asked({ urls: ['http://127.0.0.1/other', url] }), { raw: '', parsed: {} });

  it('are believed at the address that was given out, of that call alone', () => {
    expect(isProof(new URL(address).searchParams.get('proof') ?? '')).toBe(true);
    expect(isProven(address)).toBe(true);
    expect(isProven(address.replace('call_1', 'call_2'))).toBe(false);
    expect(isProven(address.replace(/proof=../u, 'proof=AA'))).toBe(false);
    expect(isProven(provenStatusUrl('https://bot.example/carriers/exotel/status/call_1', new Secret('another')))).toBe(false);
    expect(isProven('https://bot.example/carriers/exotel/status/call_1')).toBe(false);
    expect(address).not.toContain(password.reveal());
  });

  it.each([
    [{ EventType: 'ringing', Status: 'in-progress' }, 'ringing', { state: 'ringing' }],
    [{ EventType: 'answered', Status: 'in-progress' }, 'answered', { state: 'answered' }],
    [{ EventType: 'terminal', Status: 'completed' }, 'completed', { state: 'ended', outcome: 'completed' }],
    [{ EventType: 'terminal', Status: 'no-answer' }, 'no-answer', { state: 'ended', outcome: 'no-answer' }],
    [{ Status: 'busy', Legs: [{ CauseCode: 'USER_BUSY' }] }, 'busy', { state: 'ended', outcome: 'busy', cause: 'USER_BUSY' }],
    [
      { Status: 'busy', Legs: [{ CauseCode: 'CALL_REJECTED' }] },
      'busy',
      { state: 'ended', outcome: 'rejected', cause: 'CALL_REJECTED' },
    ],
    [{ Status: 'failed', Legs: [{ Cause: 'X' }] }, 'failed', { state: 'ended', outcome: 'failed', cause: 'X' }],
    [{ Status: 'strange' }, 'strange', undefined],
  ])('reads %j', (body, status, progress) => {
    const terminal = progress?.state === 'ended';
    expect(readReport({ CallSid: 'c-1', ...body })).toMatchObject({ carrierCallId: 'c-1', status, terminal });
    expect(readReport({ CallSid: 'c-1', ...body })?.progress).toEqual(progress);
  });

  it('never throws, and reads nothing of what names no call or no status', () => {
    fc.assert(fc.property(fc.anything(), (body) => readReport(body) === undefined || typeof body === 'object'));
    expect(readReport({ Status: 'completed' })).toBeUndefined();
    expect(readReport({ CallSid: 'c-1', EventType: 'terminal' })).toBeUndefined();
  });
});
