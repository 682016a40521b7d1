import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CarrierRequest } from '../../../src/carriers/carrier.ts';
import { GenesysCodec, type GenesysUse } from '../../../src/carriers/genesys/codec.ts';
import { UpgradeSignatures } from '../../../src/carriers/genesys/signature.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { sink } from './fixtures.ts';

const SESSION = '30b0e395-84d3-4570-ac13-9a62d8f514c0';
const CONVERSATION = '090eaa2f-72fa-480a-83e0-8667ff89c0ec';
const pcmu = (...channels: string[]) => ({ type: 'audio', format: 'PCMU', channels, rate: 8000 });

/** A session from Genesys' side: sequence numbers are counted. */
function session(use: GenesysUse = 'auto') {
  const codec = new GenesysCodec(use);
  const to = sink();
  let seq = 0;
  const tell = (type: string, parameters: object = {}, more: object = {}) =>
    codec.read(
      Buffer.from(
        JSON.stringify({ version: '2', id: SESSION, type, seq: (seq += 1), serverseq: 0, position: 'PT0S', parameters, ...more }),
      ),
      false,
      to,
    );
  return {
    codec,
    to,
    tell,
    open: (parameters: object = {}) =>
      tell('open', {
        organizationId: 'd7934305-0972-4844-938e-9060eef73d05',
        conversationId: CONVERSATION,
        participant: { id: 'p1', ani: 'tel:+15550100001', aniName: 'A', dnis: '+15550100002' },
        media: [pcmu('external')],
        language: 'en-US',
        ...parameters,
      }),
    sound: (bytes: Uint8Array) => codec.read(Buffer.from(bytes), true, to),
    sent: () => to.sent.filter((each) => typeof each === 'string').map((each) => JSON.parse(each) as Record<string, unknown>),
  };
}

describe('a session of Audio Connector', () => {
  it('is opened with one of the media, and names its call', () => {
    const at = session();
    expect(at.open({ inputVariables: { tier: 'gold', visits: 3, odd: {} } })).toMatchObject({
      type: 'started',
      streamId: SESSION,
      carrierCallId: CONVERSATION,
      inbound: { encoding: 'mulaw', rateHz: 8000 },
      call: { from: '+15550100001', to: '+15550100002', direction: 'inbound' },
      parameters: { tier: 'gold', visits: '3', language: 'en-US' },
    });
    expect(at.sent()).toEqual([
      { version: '2', id: SESSION, type: 'opened', seq: 1, clientseq: 1, parameters: { media: [pcmu('external')] } },
    ]);
  });

  it('answers what wants an answer, in one row of numbers', () => {
    const at = session();
    at.open();
    expect(at.tell('ping', { rtt: 'PT0.1S' })).toEqual({ type: 'alive' });
    expect(at.tell('update', { language: 'de-DE' })).toEqual({ type: 'alive' });
    expect(at.tell('dtmf', { digit: '5' })).toEqual({ type: 'digit', digit: '5' });
    expect(at.tell('error', { code: 429, message: 'slow', retryAfter: 'PT3S' })).toMatchObject({ type: 'rejected' });
    expect(at.tell('something_new')).toEqual({ type: 'ignored', name: 'something_new' });
    expect(at.tell('close', { reason: 'end' })).toEqual({ type: 'stopped', reason: 'end' });
    expect(at.sent().map(({ type, seq, clientseq }) => [type, seq, clientseq])).toEqual([
      ['opened', 1, 1],
      ['pong', 2, 2],
      ['updated', 3, 3],
      ['closed', 4, 7],
    ]);
  });

  it('tells the time of sound by what came, and by what Genesys says was left out', () => {
    const at = session();
    expect(at.sound(new Uint8Array(160)).type).toBe('ignored');
    at.open();
    expect(at.sound(new Uint8Array(160))).toMatchObject({ type: 'audio', timestampMs: 0 });
    expect(at.sound(new Uint8Array(800))).toMatchObject({ timestampMs: 20 });
    expect(at.tell('paused')).toEqual({ type: 'alive' });
    expect(at.tell('resumed', { start: 'PT0.12S', discarded: 'PT2.5S' })).toEqual({ type: 'alive' });
    expect(at.sound(new Uint8Array(160))).toMatchObject({ timestampMs: 2_620 });
    expect(at.tell('discarded', { start: 'PT2.64S', discarded: 'PT0.1S' })).toEqual({ type: 'alive' });
    expect(at.sound(new Uint8Array(160))).toMatchObject({ timestampMs: 2_740 });
    expect(at.tell('discarded', { start: 'x', discarded: 'soon' }).type).toBe('rejected');
  });

  it('counts a mark as reached when everything was played, and only what nothing was sent behind', () => {
    const at = session();
    at.open();
    at.codec.audio(new Uint8Array(3_200), at.to);
    at.codec.mark('a');
    at.codec.audio(new Uint8Array(3_200), at.to);
    expect(at.tell('playback_completed')).toEqual({ type: 'alive' });
    at.codec.mark('b');
    expect(at.tell('playback_completed')).toEqual({ type: 'mark', name: 'b' });
    expect(at.tell('playback_completed')).toEqual({ type: 'alive' });
  });

  it('sends audio in messages of at most 64,000 bytes, and an interruption as an event', () => {
    const at = session();
    at.open();
    at.codec.audio(new Uint8Array(70_000), at.to);
    expect(at.to.sent.slice(1).map((each) => each.length)).toEqual([64_000, 6_000]);
    at.codec.clear(at.to);
    expect(at.sent().at(-1)).toMatchObject({ type: 'event', seq: 2, parameters: { entities: [{ type: 'barge_in', data: {} }] } });
  });

  it('is ended by a disconnect, once, and by the answer to the close that follows', () => {
    const at = session();
    at.open();
    expect(at.codec.goodbye('said-goodbye', at.to)).toBe('wait');
    expect(at.codec.goodbye('again', at.to)).toBe('wait');
    expect(at.tell('close', { reason: 'disconnect' })).toMatchObject({ type: 'stopped' });
    expect(at.codec.goodbye('again', at.to)).toBe('close');
    expect(at.sent().slice(1)).toMatchObject([
      { type: 'disconnect', parameters: { reason: 'completed', outputVariables: { offhookEndReason: 'said-goodbye' } } },
      { type: 'closed' },
    ]);
  });

  it('passes a caller on by variables of the flow', () => {
    const at = session();
    at.open();
    at.codec.transfer('+15550100199', at.to);
    expect(at.codec.goodbye('transferred', at.to)).toBe('wait');
    expect(at.sent().slice(1)).toMatchObject([
      { type: 'disconnect', parameters: { reason: 'completed', outputVariables: { offhookTransferTo: '+15550100199' } } },
    ]);
  });

  it('that only tries the connection is opened, and is no call', () => {
    const at = session();
    expect(at.open({ conversationId: '00000000-0000-0000-0000-000000000000' })).toEqual({ type: 'probe' });
    expect(at.tell('close', { reason: 'end' })).toMatchObject({ type: 'stopped' });
    expect(at.sent().map(({ type }) => type)).toEqual(['opened', 'closed']);
  });
});

describe('a session of AudioHook Monitor', () => {
  it('has both sides in one message, and is listened to', () => {
    const at = session();
    const media = [pcmu('external', 'internal'), pcmu('external'), pcmu('internal')];
    expect(at.open({ media })).toMatchObject({ type: 'started', call: { mode: 'listen' } });
    expect(at.sent()[0]).toMatchObject({ parameters: { media: [pcmu('external', 'internal')] } });
    const heard = at.sound(Uint8Array.of(1, 101, 2, 102, 3, 103));
    if (heard.type !== 'audio') throw new Error(heard.type);
    expect([[...heard.payload], [...(heard.other ?? [])], heard.track]).toEqual([[1, 2, 3], [101, 102, 103], 'caller']);
    expect(at.sound(Uint8Array.of(1)).type).toBe('rejected');
  });

  it('is a call of a bot where the settings say so', () => {
    const at = session('bot');
    const opened = at.open({ media: [pcmu('external', 'internal'), pcmu('external')] });
    expect(opened).not.toHaveProperty('call.mode');
    expect(at.sent()[0]).toMatchObject({ parameters: { media: [pcmu('external')] } });
  });
});

describe('a broken protocol', () => {
  it.each([
    ['a number left out', { seq: 7 }],
    ['a number that came before', { seq: 1 }],
    ['more heard of us than was sent', { serverseq: 2 }],
    ['another session', { id: 'another' }],
    ['another version', { version: '1' }],
  ])('is told to Genesys where it has %s', (_, more) => {
    const at = session();
    at.open();
    expect(at.tell('ping', {}, more)).toMatchObject({ type: 'rejected' });
    expect(at.sent().at(-1)).toMatchObject({ type: 'disconnect', seq: 2, parameters: { reason: 'error' } });
    // Sound that was on its way is no longer heard; the close that answers gets its closed.
    expect(at.sound(new Uint8Array(160)).type).toBe('alive');
    expect(at.tell('close', { reason: 'error' }, { serverseq: 2 })).toEqual({ type: 'stopped', reason: 'error' });
    expect(at.sent().at(-1)).toMatchObject({ type: 'closed', seq: 3, clientseq: 3 });
  });

  it.each([
    [
      'other media alone',
      { media: [{ type: 'audio', format: 'L16', channels: ['external'], rate: 8000 }] },
      'open offers L16 at 8000 Hz (external); accepted is PCMU at 8000 Hz with the external channel',
    ],
    ['the agent alone', { media: [pcmu('internal')] }, 'open offers PCMU at 8000 Hz (internal); accepted is PCMU at 8000 Hz'],
    ['media of no kind we know', { media: [{ type: 'video' }] }, 'open offers no audio; accepted is PCMU'],
    ['no conversation', { conversationId: '' }, 'open has no usable "conversationId"'],
    ['no media', { media: 'all' }, 'open has no usable "media"'],
    ['a question for languages', { supportedLanguages: true }, 'Transcript Connector is not supported'],
  ])('is disconnected with the reason, and then closed, where a session opens with %s', (_, parameters, info) => {
    const at = session();
    const refused = at.open(parameters);
    expect(refused).toMatchObject({ type: 'rejected', fatal: true, problem: expect.stringContaining(info) });
    expect(at.sent()).toMatchObject([
      {
        type: 'disconnect',
        id: SESSION,
        seq: 1,
        clientseq: 1,
        parameters: { reason: 'error', info: expect.stringContaining(info) },
      },
    ]);
    expect(at.codec.goodbye('whatever', at.to, true)).toBe('wait');
    expect(at.tell('close', { reason: 'error' }, { serverseq: 1 })).toEqual({ type: 'stopped', reason: 'error' });
    expect(at.sent().slice(1)).toMatchObject([{ type: 'closed', seq: 2, clientseq: 2 }]);
  });

  it.each([
    ['another version', { version: '3' }, 'message has no usable "version"; accepted is version 2'],
    ['another first number', { seq: 7 }, 'seq is 7 after 0'],
    ['no parameters', { parameters: 'none' }, 'message has no usable "parameters"'],
  ])('is told to Genesys where the open has %s', (_, more, info) => {
    const at = session();
    expect(at.tell('open', {}, more)).toMatchObject({ type: 'rejected', fatal: true, problem: expect.stringContaining(info) });
    expect(at.sent()).toMatchObject([{ type: 'disconnect', id: SESSION, seq: 1, parameters: { reason: 'error' } }]);
  });

  it('is closed at once where nothing says which session it is', () => {
    const at = session();
    const refused = at.codec.read(Buffer.from('hello'), false, at.to);
    expect(refused).toMatchObject({ type: 'rejected', fatal: true, problem: expect.stringContaining('no usable JSON object') });
    expect(at.codec.goodbye('whatever', at.to, true)).toBe('close');
    expect(at.to.sent).toEqual([]);
  });

  it('is an error for the flow where the call is not taken, and takes a bot that is asked for its languages', () => {
    const at = session();
    expect(at.open({ supportedLanguages: true, inputVariables: {} })).toMatchObject({ type: 'started' });
    expect(at.codec.goodbye('the call is refused: calls', at.to, true)).toBe('wait');
    expect(at.sent().at(-1)).toMatchObject({
      type: 'disconnect',
      parameters: { reason: 'error', info: 'the call is refused: calls' },
    });
    expect(session('bot').open({ supportedLanguages: true })).toMatchObject({ type: 'started' });
  });

  it('never throws, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.oneof(fc.string(), fc.json()), fc.boolean()), { maxLength: 20 }), (messages) => {
        const at = session();
        at.open();
        for (const [message, isBinary] of messages) at.codec.read(Buffer.from(message), isBinary, at.to);
        expect(['audio', 'alive']).toContain(at.sound(new Uint8Array(160)).type);
      }),
    );
  });
});

/** The example of the AudioHook documentation, as the reference implementation tests it. */
const example: CarrierRequest = {
  urls: ['https://audiohook.example.com/api/v1/voicebiometrics/ws'],
  headers: {
    'audiohook-organization-id': 'd7934305-0972-4844-938e-9060eef73d05',
    'audiohook-session-id': '30b0e395-84d3-4570-ac13-9a62d8f514c0',
    'audiohook-correlation-id': 'e160e428-53e2-487c-977d-96989bf5c99d',
    'x-api-key': 'SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh',
    signature: 'sig1=:NZBwyBHRRyRoeLqy1IzOa9VYBuI8TgMFt2GRDkDuJh4=:',
    'signature-input':
      'sig1=("@request-target" "@authority" "audiohook-organization-id" "audiohook-session-id" "audiohook-correlation-id" "x-api-key");keyid="SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh";nonce="VGhpc0lzQVVuaXF1ZU5vbmNl";alg="hmac-sha256";created=1641013200;expires=3282026430',
  },
  address: '192.0.2.1',
};
const AT_MS = 1_641_013_200_000;
const clientSecret = new Secret('TXlTdXBlclNlY3JldEtleVRlbGxOby0xITJAMyM0JDU=');
const check = (request: CarrierRequest = example, wallMs = AT_MS, apiKeys: readonly Secret[] = [], secrets = [clientSecret]) =>
  new UpgradeSignatures(secrets, apiKeys).isSigned(request, wallMs);
const withHeaders = (headers: Record<string, string>): CarrierRequest => ({
  ...example,
  headers: { ...example.headers, ...headers },
});

describe('the signature of an upgrade', () => {
  it('is right in the example of the documentation', () => {
    expect(check()).toBe(true);
    expect(check(example, AT_MS + 9_900)).toBe(true);
    expect(check(example, AT_MS, [new Secret('SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh')])).toBe(true);
    expect(check(example, AT_MS, [], [new Secret('b3RoZXI='), clientSecret])).toBe(true);
  });

  it('counts once', () => {
    const signatures = new UpgradeSignatures([clientSecret], []);
    expect([signatures.isSigned(example, AT_MS), signatures.isSigned(example, AT_MS + 1)]).toEqual([true, false]);
  });

  it.each([
    ['eleven seconds later', example, AT_MS + 11_000],
    ['far ahead of our clock', example, AT_MS - 4_000],
    ['for another address', { ...example, urls: ['https://audiohook.example.com/other'] }, AT_MS],
    ['for another host', { ...example, urls: ['https://example.com/api/v1/voicebiometrics/ws'] }, AT_MS],
    ['for another session', withHeaders({ 'audiohook-session-id': 'other' }), AT_MS],
    ['for another key', withHeaders({ 'x-api-key': 'other' }), AT_MS],
    ['without one', withHeaders({ signature: '' }), AT_MS],
    ['of another label', withHeaders({ signature: 'sig2=:NZBwyBHRRyRoeLqy1IzOa9VYBuI8TgMFt2GRDkDuJh4=:' }), AT_MS],
    [
      'that covers less',
      withHeaders({ 'signature-input': example.headers['signature-input']?.replace(' "x-api-key"', '') ?? '' }),
      AT_MS,
    ],
    [
      'by another algorithm',
      withHeaders({ 'signature-input': example.headers['signature-input']?.replace('hmac-sha256', 'none') ?? '' }),
      AT_MS,
    ],
  ])('is refused %s', (_, request, wallMs) => {
    expect(check(request, wallMs)).toBe(false);
  });

  it('is refused with another secret or API key, and with a secret that decodes to nothing', () => {
    expect(check(example, AT_MS, [], [new Secret('b3RoZXI=')])).toBe(false);
    expect(check(example, AT_MS, [], [new Secret('==')])).toBe(false);
    expect(check(example, AT_MS, [new Secret('other')])).toBe(false);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (signature, input) => {
        expect(check(withHeaders({ signature, 'signature-input': input }))).toBe(false);
      }),
    );
  });
});
