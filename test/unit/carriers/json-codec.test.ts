import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import { maxMessageBytes, type WireEvent } from '../../../src/carriers/media-codec.ts';
import { twilioDialect } from '../../../src/carriers/twilio/dialect.ts';
import { expectSurvival, message, refusedCases, session } from './fixtures.ts';

const startedCodec = (): JsonCodec => {
  const codec = new JsonCodec(twilioDialect);
  codec.readText(JSON.stringify(message('start')));
  return codec;
};
const plain = (result: WireEvent): unknown =>
  result.type === 'audio' ? { ...result, payload: Buffer.from(result.payload).toString('base64') } : result;

describe('JsonCodec with the Twilio table', () => {
  it('reads a whole session', () => {
    const codec = new JsonCodec(twilioDialect);
    for (const { message, reads } of session) expect(plain(codec.readText(JSON.stringify(message)))).toEqual(reads);
  });

  test.each(refusedCases)('rejects $note, and goes on', ({ started, fatal, text, message: bad, problem }) => {
    const codec = started ? startedCodec() : new JsonCodec(twilioDialect);
    const result = codec.readText(text ?? JSON.stringify(bad));
    expect(result).toMatchObject({ type: 'rejected', problem: expect.stringContaining(problem) });
    expect('fatal' in result).toBe(fatal);
    expect(codec.readText(JSON.stringify(message('start'))).type).toBe(started ? 'rejected' : 'started');
    expect(codec.readText(JSON.stringify(message('media'))).type).toBe('audio');
  });

  it('rejects a message above the limit without reading it', () => {
    const long = JSON.stringify({ ...message('media'), padding: 'x'.repeat(maxMessageBytes) });
    expect(startedCodec().readText(long)).toMatchObject({ type: 'rejected', problem: expect.stringContaining('at most 65536') });
  });

  it('rejects what comes after stop', () => {
    const codec = startedCodec();
    codec.readText(JSON.stringify(message('stop')));
    for (const event of ['media', 'dtmf', 'mark', 'stop']) {
      expect(codec.readText(JSON.stringify(message(event)))).toMatchObject({ problem: expect.stringContaining('after stop') });
    }
  });

  test.each([
    ['number', 155],
    ['text', '155'],
  ])('takes a timestamp as %s', (_note, timestamp) => {
    const media = { event: 'media', media: { payload: '/////w==', timestamp } };
    expect(plain(startedCodec().readText(JSON.stringify(media)))).toEqual({
      type: 'audio',
      payload: '/////w==',
      timestampMs: 155,
    });
  });

  it.each(['nonsense', null, true, [], -1, '1e400'])('takes audio with the timestamp %j as audio without one', (timestamp) => {
    const media = { event: 'media', media: { payload: '//8=', timestamp } };
    const result = startedCodec().readText(JSON.stringify(media));
    expect(result).toMatchObject({ type: 'audio' });
    expect(result.type === 'audio' && result.timestampMs).not.toBeNaN();
  });

  it('takes a start whose numbers are text, whose format is absent, or whose parameters are not text', () => {
    const start = message('start');
    const body = { streamSid: 'MZ', callSid: 'CA' };
    for (const mediaFormat of [undefined, { encoding: 'AUDIO/X-MULAW', sampleRate: '8000', channels: '1' }]) {
      const read = new JsonCodec(twilioDialect).readText(
        JSON.stringify({ ...start, start: { ...body, mediaFormat, customParameters: { a: 1, b: true, c: {}, d: 'x' } } }),
      );
      expect(read).toMatchObject({
        type: 'started',
        inbound: { encoding: 'mulaw', rateHz: 8000 },
        parameters: { a: '1', b: 'true', d: 'x' },
      });
    }
  });

  it('ignores unknown events and tracks, and names from the prototype', () => {
    const codec = startedCodec();
    expect(codec.readText('{"event":"speech"}')).toEqual({ type: 'ignored', name: 'speech' });
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(codec.readText(JSON.stringify({ event: name }))).toEqual({ type: 'ignored', name });
    expect(codec.readText('{"event":"media","media":{"track":"third","payload":"AAAA"}}').type).toBe('ignored');
  });

  it('lends the same buffer for each payload', () => {
    const codec = startedCodec();
    const one = codec.readText('{"event":"media","media":{"payload":"AAAA"}}');
    const two = codec.readText('{"event":"media","media":{"payload":"////"}}');
    if (one.type !== 'audio' || two.type !== 'audio') throw new Error('not audio');
    expect(one.payload.buffer).toBe(two.payload.buffer);
    expect([...one.payload]).toEqual([255, 255, 255]);
  });

  it('tells whose audio is not the caller, of a call between people', () => {
    const codec = startedCodec();
    const message = '{"event":"media","media":{"track":"outbound","payload":"/w=="}}';
    expect(codec.readText(message)).toMatchObject({ type: 'audio', track: 'other' });
  });

  it('gives back any payload byte for byte', () => {
    const codec = startedCodec();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 9000 }), (bytes) => {
        const payload = Buffer.from(bytes).toString('base64');
        const result = codec.readText(JSON.stringify({ event: 'media', media: { payload } }));
        expect(result.type === 'audio' && Buffer.from(result.payload).equals(Buffer.from(bytes))).toBe(true);
      }),
    );
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      startedCodec,
      Buffer.from(JSON.stringify(message('media'))),
      false,
      'start',
      'media',
      'mark',
      'dtmf',
      'stop',
      'streamSid',
      'payload',
      'mediaFormat',
      'name',
      '__proto__',
    ));
});

describe('JsonCodec with a table that differs from it', () => {
  const at = (path: string) => [['start', path]] as const;
  const { start, ...dialect } = twilioDialect;
  const call = { from: at('from'), to: at('to'), direction: at('direction') };

  it.each([
    ['out', 'outbound-api', 'outbound'],
    ['in', undefined, 'inbound'],
  ])('reads who calls whom from the start of a call that went %s', (_, direction, read) => {
    const codec = new JsonCodec({ ...dialect, start: { ...start, call } });
    const told = { streamSid: 's', callSid: 'c', from: '+15550100001', to: 15_550_100_002, direction };
    const result = codec.readText(JSON.stringify({ event: 'start', start: told }));
    expect(result).toMatchObject({ call: { from: '+15550100001', to: '15550100002', direction: read } });
  });

  it.each([
    ['audio/x-mulaw;rate=8000', 'mulaw'],
    ['raw', 'pcm16'],
    ['', 'mulaw'],
  ])('reads the encoding %j as %s where others are accepted', (encoding, read) => {
    const codec = new JsonCodec({ ...dialect, start: { ...start, otherEncoding: 'pcm16' } });
    const told = { streamSid: 's', callSid: 'c', mediaFormat: { encoding, sampleRate: 8000 } };
    const result = codec.readText(JSON.stringify({ event: 'start', start: told }));
    expect(result).toMatchObject({ type: 'started', inbound: { encoding: read, rateHz: 8000 } });
  });

  it('reads the name of an event under its other key', () => {
    const codec = new JsonCodec({ ...twilioDialect, otherEventKey: 'Event' });
    expect(codec.readText('{"Event":"connected"}').type).toBe('connected');
    expect(codec.readText('{"EVENT":"connected"}').type).toBe('rejected');
  });
});
