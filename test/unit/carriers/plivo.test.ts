import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import { dialAnswer, joinAnswer, plivo, sayAnswer, streamAnswer, vobiz } from '../../../src/carriers/plivo/carrier.ts';
import { plivoDialect, type PlivoMessages } from '../../../src/carriers/plivo/dialect.ts';
import {
  callProgress,
  isSignatures,
  isSigned,
  readStatusWebhook,
  readVoiceWebhook,
} from '../../../src/carriers/plivo/webhook.ts';
import { defaultPhrases } from '../../../src/config/bot-phrases.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { readAnswerXml } from '../../../src/sim/answer-xml.ts';
import { signedPlivoForm } from '../../../src/sim/plivo/carrier.ts';
import { expectSurvival, jsonSink } from './fixtures.ts';

const PLIVO: PlivoMessages = { l16ByteOrder: 'little', pressesKeys: true, stops: false };
const VOBIZ: PlivoMessages = { l16ByteOrder: 'big', pressesKeys: false, stops: true };
const vectors = z
  .object({
    token: z.string(),
    nonce: z.string(),
    url: z.string(),
    params: z.record(z.string(), z.string()),
    cases: z.array(z.object({ method: z.enum(['GET', 'POST']), query: z.string(), signature: z.string() })),
  })
  .parse(JSON.parse(readFileSync(new URL('../../fixtures/wire/plivo/signatures.json', import.meta.url), 'utf8')));
const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const tokens = [new Secret('my_auth_token')];

/** As plivo.com/docs/voice-agents/audio-streaming has them. */
const streamId = '87654321-4321-4321-4321-cba987654321';
const callId = '12345678-1234-1234-1234-123456789abc';
const start = (encoding = 'audio/x-mulaw', sampleRate: unknown = 8000) => ({
  event: 'start',
  sequenceNumber: 1,
  start: { callId, streamId, accountId: 'MAXXXXXXXXXXXXXXXXXX', tracks: ['inbound'], mediaFormat: { encoding, sampleRate } },
  extra_headers: 'userId=12345;sessionId=abc-xyz',
});
const media = (payload: string) => ({
  event: 'media',
  sequenceNumber: 42,
  streamId,
  media: { track: 'inbound', timestamp: '1705312200000', chunk: 41, payload },
  extra_headers: 'userId=12345;sessionId=abc-xyz',
});

function started(messages: PlivoMessages, first: object = start()): JsonCodec {
  const codec = new JsonCodec(plivoDialect(messages));
  expect(codec.read(text(first), false).type).toBe('started');
  return codec;
}

describe('the media stream of Plivo', () => {
  it('reads a whole session, whose ids are inside the start alone', () => {
    const codec = new JsonCodec(plivoDialect(PLIVO));
    const format = { encoding: 'mulaw', rateHz: 8000 };
    const reads = [
      [start(), { type: 'started', streamId, carrierCallId: callId, inbound: format, outbound: format }],
      [media('/////w=='), { type: 'audio', payload: Buffer.alloc(4, 0xff), timestampMs: 1_705_312_200_000 }],
      [{ ...media('AAAA'), media: { track: 'another', payload: 'AAAA' } }, { type: 'ignored' }],
      [
        { event: 'dtmf', sequenceNumber: 6, streamId, dtmf: { track: 'inbound', digit: '1' } },
        { type: 'digit', digit: '1' },
      ],
      [
        { event: 'playedStream', sequenceNumber: 7, streamId, name: 'cp1' },
        { type: 'mark', name: 'cp1' },
      ],
      [{ event: 'clearedAudio', sequenceNumber: 8, streamId }, { type: 'alive' }],
      [
        { event: 'newThing', sequenceNumber: '9' },
        { type: 'ignored', name: 'newThing' },
      ],
      [
        { event: 'stop', reason: 'hangup' },
        { type: 'stopped', reason: 'hangup' },
      ],
    ] as const;
    for (const [message, expected] of reads) expect(codec.read(text(message), false)).toMatchObject(expected);
  });

  it.each([
    ['no stream', { ...start(), start: { ...start().start, streamId: '' } }],
    ['no call', { ...start(), start: { ...start().start, callId: undefined } }],
    ['a rate that is none of the carrier’s', start('audio/x-l16', 11_025)],
    ['an encoding that is none of the carrier’s', start('audio/opus')],
  ])('refuses a start with %s for good', (_, message) => {
    expect(new JsonCodec(plivoDialect(PLIVO)).read(text(message), false)).toMatchObject({ type: 'rejected', fatal: true });
  });

  it.each([
    ['Plivo', PLIVO],
    ['Vobiz', VOBIZ],
  ])('tells both sides of a call between people apart, at %s', (_, messages) => {
    const codec = started(messages, { ...start(), start: { ...start().start, tracks: ['inbound', 'outbound'] } });
    const heard = ['inbound', 'outbound', 'inbound', 'outbound'].map((track, at) => {
      const payload = Buffer.alloc(160, at).toString('base64');
      const about = { track, timestamp: String(1_705_312_200_000 + at * 10), chunk: 1 + Math.floor(at / 2), payload };
      const event = codec.read(text({ ...media(''), media: about }), false);
      return event.type === 'audio' ? [event.track ?? 'caller', event.payload[0]] : event.type;
    });
    expect(heard).toEqual([
      ['caller', 0],
      ['other', 1],
      ['caller', 2],
      ['other', 3],
    ]);
  });

  it('sends audio as the stream has it, checkpoints, clears and keys', () => {
    const to = jsonSink();
    const codec = started(PLIVO);
    codec.audio(Buffer.alloc(3, 0xff), to);
    codec.mark('0.a.160', to);
    codec.clear(to);
    codec.digits('12#', to);
    expect(codec.goodbye('done', to)).toBe('close');
    expect(to.sent).toEqual([
      { event: 'playAudio', streamId, media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: '////' } },
      { event: 'checkpoint', streamId, name: '0.a.160' },
      { event: 'clearAudio', streamId },
      { event: 'sendDTMF', dtmf: '12#' },
    ]);
    const wide = jsonSink();
    started(PLIVO, start('audio/x-l16', '16000')).audio(Buffer.alloc(3), wide);
    expect(wide.sent).toEqual([
      { event: 'playAudio', streamId, media: { contentType: 'audio/x-l16', sampleRate: 16_000, payload: 'AAAA' } },
    ]);
  });

  it('hears linear audio in the byte order that is configured, and always sends it little-endian', () => {
    const formats = (messages: PlivoMessages) =>
      new JsonCodec(plivoDialect(messages)).read(text(start('audio/x-l16', 16_000)), false);
    const outbound = { encoding: 'pcm16', rateHz: 16_000 };
    expect(formats(PLIVO)).toMatchObject({ inbound: outbound, outbound });
    expect(formats(VOBIZ)).toMatchObject({ inbound: { encoding: 'pcm16be', rateHz: 16_000 }, outbound });
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      () => started(VOBIZ),
      text(media('////')),
      false,
      'start',
      'media',
      'dtmf',
      'playedStream',
      'clearedAudio',
      'stop',
      'name',
      'payload',
    ));
});

describe('the media stream of Vobiz', () => {
  it('reads its first message 0, text for extra headers, and a checkpoint without a stream', () => {
    const codec = started(VOBIZ, { ...start(), sequenceNumber: 0, extra_headers: '{}' });
    expect(codec.read(text({ event: 'playedStream', name: 'response-3' }), false)).toEqual({ type: 'mark', name: 'response-3' });
  });

  it('ends the stream by a message, which the carrier answers by closing', () => {
    const to = jsonSink();
    const codec = started(VOBIZ);
    expect(codec.goodbye('done', to)).toBe('wait');
    expect(to.sent).toEqual([{ event: 'stop', streamId }]);
    expect(() => codec.digits('1', to)).toThrow(TypeError);
    expect(vobiz.capabilities).toMatchObject({ dtmfOut: 'rest', marksReturnOnClear: 'no', closeEndsCall: true });
  });
});

describe('signatures', () => {
  const { token, nonce, url, params, cases } = vectors;
  const published = cases.map(({ method, query, signature }) => {
    const asked = new URLSearchParams(method === 'GET' ? params : {}).toString();
    const urls = [url + query + (asked === '' ? '' : (query === '' ? '?' : '&') + asked)];
    return { signatures: [signature], nonce, urls, fields: method === 'GET' ? {} : params };
  });
  const known = [new Secret(token)];

  it.each(published)('accepts the published vector $signatures of Plivo, and none that differs', (vector) => {
    expect(isSigned(known, vector)).toBe(true);
    expect(isSigned([new Secret('other'), ...known], { ...vector, urls: ['https://x.test', ...vector.urls] })).toBe(true);
    for (const wrong of [
      { ...vector, signatures: [`${'A'.repeat(43)}=`] },
      { ...vector, signatures: [undefined] },
      { ...vector, nonce: '31627761595286130199' },
      { ...vector, nonce: undefined },
      { ...vector, urls: [`${url}?CallUUID=1`] },
      { ...vector, urls: [] },
      { ...vector, fields: { ...vector.fields, Digits: '1' } },
    ])
      expect(isSigned(known, wrong)).toBe(false);
    expect(isSigned([new Secret(`${token}s`)], vector)).toBe(false);
    expect(isSigned([], vector)).toBe(false);
  });

  it('accepts any of several signatures, of the account or of its parent', () => {
    const [vector] = published;
    const [right = ''] = vector?.signatures ?? [];
    if (vector === undefined) throw new TypeError('no vector');
    const other = `${'A'.repeat(43)}=`;
    expect(isSigned(known, { ...vector, signatures: [`${other}, ${right}`] })).toBe(true);
    expect(isSigned(known, { ...vector, signatures: [other, right] })).toBe(true);
    expect(isSignatures(`${other},${right}`)).toBe(true);
    for (const none of ['', ',', 'signature', `${right},x`, Array.from({ length: 9 }, () => right).join()])
      expect(isSignatures(none)).toBe(false);
  });

  test.each([
    ['plivo', 'https://v.test/carriers/plivo/voice', false],
    ['plivo', 'https://v.test:8443/carriers/plivo/voice?bot=front%20desk&a=1', false],
    ['vobiz', 'https://v.test/carriers/vobiz/voice/desk', true],
  ] as const)('takes the form of %s together as the carrier does: %s', (flavour, url, isLenient) => {
    const letters = fc.stringMatching(/^[\w +é&=.]{0,12}$/u);
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Za-z]{1,8}$/u), letters, { noNullPrototype: true }), (form) => {
        const { headers } = signedPlivoForm(flavour, url, 'my_auth_token', form);
        const header = `x-${flavour}-signature-v3`;
        const request = { signatures: [headers[header]], nonce: headers[`${header}-nonce`], urls: [url] };
        expect(isSigned(tokens, { ...request, fields: flavour === 'plivo' ? form : undefined })).toBe(true);
        const changed = { ...form, Digits: '1' };
        expect(isSigned(tokens, { ...request, fields: flavour === 'plivo' ? changed : undefined })).toBe(isLenient);
      }),
    );
  });

  it('signs a field that comes twice with its values in order', () => {
    const twice = { SipHeader: ['b', 'a'], Odd: [1, {}] };
    const { headers } = signedPlivoForm('plivo', 'https://v.test/', 'my_auth_token', { SipHeadera: 'SipHeaderb' });
    const nonce = headers['x-plivo-signature-v3-nonce'];
    expect(
      isSigned(tokens, { signatures: [headers['x-plivo-signature-v3']], nonce, urls: ['https://v.test/'], fields: twice }),
    ).toBe(true);
  });
});

describe('webhooks', () => {
  const form = {
    CallUUID: callId,
    From: '14155551234',
    To: '+919812345678',
    Direction: 'inbound',
    CallStatus: 'ringing',
    Event: 'StartApp',
  };

  it('reads a call that comes in, with its numbers in E.164 form', () => {
    expect(readVoiceWebhook('plivo', form, 'desk')).toEqual({
      carrier: 'plivo',
      carrierCallId: callId,
      from: '+14155551234',
      to: '+919812345678',
      direction: 'inbound',
      botName: 'desk',
    });
    expect(readVoiceWebhook('vobiz', { ...form, From: 'anonymous', Direction: 'outbound' }, undefined)).toMatchObject({
      carrier: 'vobiz',
      from: 'anonymous',
      direction: 'outbound',
    });
  });

  it.each([
    ['names no call', { From: '1' }],
    ['tells of an end, at the address of a number without a hang-up URL', { ...form, Event: 'Hangup', CallStatus: 'completed' }],
    ['tells of an end by its status alone', { ...form, Event: '', CallStatus: 'no-answer' }],
    ['is no form', 'text'],
  ])('begins no call by a webhook that %s', (_, fields) => {
    expect(readVoiceWebhook('plivo', fields, undefined)).toBeUndefined();
  });

  test.each([
    ['ringing', { CallStatus: 'ringing', Event: 'Ring' }, { terminal: false, progress: { state: 'ringing' } }],
    ['an answer', { CallStatus: 'in-progress', Event: 'StartApp' }, { terminal: false, progress: { state: 'answered' } }],
    ['an end', { CallStatus: 'completed', HangupCauseCode: '4000' }, { terminal: true, progress: { outcome: 'completed' } }],
    [
      'a busy line',
      { CallStatus: 'busy', HangupCauseCode: '3010' },
      { terminal: true, progress: { outcome: 'busy', cause: '3010' } },
    ],
    ['a phone that declines', { CallStatus: 'busy', HangupCauseCode: '3020' }, { progress: { outcome: 'rejected' } }],
    ['ringing out', { CallStatus: 'timeout', HangupCauseCode: '6010' }, { progress: { outcome: 'no-answer' } }],
    ['a bad number', { CallStatus: 'failed', HangupCauseCode: '2000' }, { progress: { outcome: 'failed', cause: '2000' } }],
    [
      'an end of Vobiz, where all are completed',
      { CallStatus: 'completed', HangupCauseCode: '3000' },
      { progress: { outcome: 'no-answer' } },
    ],
    [
      'an end by another name',
      { Event: 'Hangup', Status: 'completed', HangupCauseCode: '1000' },
      { progress: { outcome: 'cancelled' } },
    ],
    ['an end without a status', { Event: 'Hangup' }, { terminal: true, progress: { outcome: 'completed' } }],
    ['a machine', { CallStatus: 'in-progress', Event: 'MachineDetection', Machine: 'true' }, { witness: 'machine' }],
    ['a person', { CallStatus: 'in-progress', Event: 'MachineDetection', Machine: 'False' }, { witness: 'person' }],
    [
      'a stream',
      { Event: 'StartStream', CallStatus: 'in-progress' },
      { terminal: false, streamError: undefined, status: 'StartStream' },
    ],
    ['a lost stream', { Event: 'DroppedStream', CallStatus: 'in-progress' }, { streamError: 'DroppedStream' }],
  ])('reads a report of %s', (_, fields, expected) => {
    expect(readStatusWebhook({ CallUUID: callId, ...fields })).toMatchObject({ carrierCallId: callId, ...expected });
  });

  it('reads no report without a call or a status', () => {
    for (const fields of [{}, { CallUUID: callId }, { CallUUID: '', CallStatus: 'ringing' }, [], undefined])
      expect(readStatusWebhook(fields)).toBeUndefined();
    expect(callProgress('constructor')).toBeUndefined();
  });
});

describe('answer documents', () => {
  it('keeps the call while its stream is open, and says what the stream has', () => {
    const statusUrl = 'https://v.test/carriers/plivo/status?a=1&b="';
    const [stream, ...rest] = readAnswerXml(
      streamAnswer({ url: 'wss://v.test/carriers/plivo/stream/t.o.k', statusUrl, audio: 'l16-16k' }),
    );
    expect(rest).toEqual([]);
    expect(stream).toMatchObject({
      name: 'Stream',
      text: 'wss://v.test/carriers/plivo/stream/t.o.k',
      attributes: {
        bidirectional: 'true',
        keepCallAlive: 'true',
        audioTrack: 'inbound',
        contentType: 'audio/x-l16;rate=16000',
        statusCallbackUrl: statusUrl,
      },
    });
  });

  it('passes a caller on to a number or a SIP address, and puts two calls into one room', () => {
    expect(readAnswerXml(dialAnswer('+15550100'))).toMatchObject([
      { name: 'Dial', children: [{ name: 'Number', text: '+15550100' }] },
    ]);
    expect(readAnswerXml(dialAnswer('sip:a&b@x.test'))).toMatchObject([{ children: [{ name: 'User', text: 'sip:a&b@x.test' }] }]);
    expect(readAnswerXml(joinAnswer('r-1'))).toMatchObject([
      { name: 'Conference', text: 'r-1', attributes: { endConferenceOnExit: 'true', startConferenceOnEnter: 'true' } },
    ]);
  });

  it.each([
    ['Guten Tag', 'de', 'de-DE', 'Guten Tag'],
    ['Bonjour', 'fr-CA', 'fr-CA', 'Bonjour'],
    ['Namaste <b>', 'hi', undefined, 'Namaste <b>'],
    ['नमस्ते', 'hi', 'en-US', defaultPhrases('en').apology],
  ])('says %j of a bot in %s', (sentence, language, locale, said) => {
    const [speak, hangUp] = readAnswerXml(sayAnswer(sentence, language));
    expect(speak).toMatchObject({ name: 'Speak', text: said });
    expect(speak?.attributes['language']).toBe(locale);
    expect(hangUp?.name).toBe('Hangup');
  });

  it('gives out no document of a kind that there is none of', () => {
    const door = plivo.door({ settings: {}, secrets: {} }, tokens, {
      clock: undefined as never,
      gatewayUrl: () => 'https://v.test',
    });
    if (door.kind !== 'webhook' || door.answers.by !== 'document') throw new TypeError('plivo has other answers');
    const { answers } = door;
    expect(answers.fetched?.({ kind: 'toString', value: 'x', callId: undefined })).toBeUndefined();
    expect(answers.fetched?.({ kind: 'stream', value: 'a"/../b', callId: 'call_1' })).toContain(
      'wss://v.test/carriers/plivo/stream/a%22%2F..%2Fb<',
    );
  });
});
