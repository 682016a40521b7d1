import { describe, expect, it } from 'vitest';
import { VonageCodec } from '../../../../src/carriers/vonage/codec.ts';
import { expectSurvival, sink } from '../fixtures.ts';

const connected = {
  event: 'websocket:connected',
  'content-type': 'audio/l16;rate=16000',
  'call-uuid': 'u-1',
  'call-id': 'call_1',
};
const text = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

function started(): VonageCodec {
  const codec = new VonageCodec();
  expect(codec.read(text(connected), false).type).toBe('started');
  return codec;
}

describe('VonageCodec', () => {
  it('reads a whole session', () => {
    const codec = new VonageCodec();
    const format = { encoding: 'pcm16', rateHz: 16_000 };
    const frame = Buffer.alloc(640, 7);
    const reads = [
      [frame, true, { type: 'ignored' }],
      [
        text(connected),
        false,
        { type: 'started', carrierCallId: 'u-1', inbound: format, outbound: format, parameters: { 'call-id': 'call_1' } },
      ],
      [frame, true, { type: 'audio', payload: frame, timestampMs: undefined }],
      [text({ event: 'websocket:dtmf', digit: '5', duration: 260 }), false, { type: 'digit', digit: '5' }],
      [text({ event: 'websocket:notify', payload: { id: '0.a.160.end' } }), false, { type: 'mark', name: '0.a.160.end' }],
      [text({ event: 'websocket:cleared' }), false, { type: 'alive' }],
      [text({ event: 'websocket:new' }), false, { type: 'ignored', name: 'websocket:new' }],
    ] as const;
    for (const [message, isBinary, expected] of reads) expect(codec.read(message, isBinary)).toMatchObject(expected);
  });

  it.each([
    ['a rate that it has not', { ...connected, 'content-type': 'audio/l16;rate=11025' }, true],
    ['another encoding', { ...connected, 'content-type': 'audio/mulaw' }, true],
    ['a call that is no text', { ...connected, 'call-uuid': 7 }, true],
    ['a key before the start', { event: 'websocket:dtmf', digit: '1' }, undefined],
    ['no JSON', 'hello', undefined],
    ['no event', [], undefined],
  ])('refuses %s', (_, message, fatal) => {
    const result = new VonageCodec().read(text(message), false);
    expect(result.type).toBe('rejected');
    expect(result).toMatchObject(fatal === undefined ? {} : { fatal });
  });

  it('starts without a call, as on a dial, by our own id', () => {
    const { 'call-uuid': _uuid, ...start } = connected;
    const result = new VonageCodec().read(text({ ...start, 'call-id': 'call_1' }), false);
    expect(result).toMatchObject({ type: 'started', carrierCallId: undefined, streamId: 'call_1' });
  });

  it('refuses a second start, a wrong key, and half a sample, and goes on', () => {
    const codec = started();
    for (const wrong of [connected, { event: 'websocket:dtmf', digit: 'x' }, { event: 'websocket:notify', payload: 7 }])
      expect(codec.read(text(wrong), false).type).toBe('rejected');
    expect(codec.read(Buffer.alloc(3), true).type).toBe('rejected');
    expect(codec.read(Buffer.alloc(640), true).type).toBe('audio');
  });

  it('sends audio as messages of exactly one frame, whatever it is given at once', () => {
    const codec = started();
    const to = sink();
    const audio = Uint8Array.from({ length: 5 * 640 }, (_, at) => at % 251);
    codec.audio(audio, to);
    expect(to.sent.map((message) => message.length)).toEqual([640, 640, 640, 640, 640]);
    expect(Buffer.concat(to.sent.map((message) => Buffer.from(message)))).toEqual(Buffer.from(audio));
  });

  it('marks by notifications and clears by an action', () => {
    const codec = started();
    const to = sink();
    codec.mark('0.a.160', to);
    codec.clear(to);
    expect(to.sent.map((message) => JSON.parse(String(message)) as unknown)).toEqual([
      { action: 'notify', payload: { id: '0.a.160' } },
      { action: 'clear' },
    ]);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(
      started,
      Buffer.alloc(640),
      true,
      'websocket:connected',
      'websocket:dtmf',
      'websocket:notify',
      'payload',
      'digit',
    ));
});
