import { describe, expect, it } from 'vitest';
import { browser } from '../../../src/carriers/browser/carrier.ts';
import { BrowserCodec } from '../../../src/carriers/browser/codec.ts';
import { expectSurvival, sink } from './fixtures.ts';

const text = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const frame = Buffer.alloc(640, 7);

function started(): BrowserCodec {
  const codec = new BrowserCodec();
  expect(codec.read(text({ type: 'start', rateHz: 16_000 }), false).type).toBe('started');
  return codec;
}

describe('BrowserCodec', () => {
  it('reads a whole session', () => {
    const codec = new BrowserCodec();
    const format = { encoding: 'pcm16', rateHz: 48_000 };
    const session = [
      [frame, true, { type: 'ignored' }],
      [
        text({ type: 'start', rateHz: 48_000 }),
        false,
        { type: 'started', carrierCallId: undefined, inbound: format, outbound: format },
      ],
      [frame, true, { type: 'audio', payload: frame, timestampMs: undefined }],
      [text({ type: 'digit', digit: '#' }), false, { type: 'digit', digit: '#' }],
      [text({ type: 'mark', name: '0.a.160' }), false, { type: 'mark', name: '0.a.160' }],
      [text({ type: 'level', db: -20 }), false, { type: 'ignored', name: 'level' }],
      [text({ type: 'stop' }), false, { type: 'stopped' }],
    ] as const;
    for (const [message, isBinary, expected] of session) expect(codec.read(message, isBinary)).toMatchObject(expected);
  });

  it.each([
    ['a rate that it has not', { type: 'start', rateHz: 44_100 }, true],
    ['a rate that is a text', { type: 'start', rateHz: '16000' }, true],
    ['a key before the start', { type: 'digit', digit: '1' }, undefined],
    ['no JSON', 'hello', undefined],
    ['no type', [], undefined],
  ])('refuses %s', (_, message, fatal) => {
    const result = new BrowserCodec().read(text(message), false);
    expect(result.type).toBe('rejected');
    expect(result).toMatchObject(fatal === undefined ? {} : { fatal });
  });

  it('refuses a second start, a wrong key, a mark without a name and half a sample, and goes on', () => {
    const codec = started();
    for (const wrong of [{ type: 'start', rateHz: 16_000 }, { type: 'digit', digit: '12' }, { type: 'mark' }])
      expect(codec.read(text(wrong), false)).toMatchObject({ type: 'rejected' });
    expect(codec.read(Buffer.alloc(3), true).type).toBe('rejected');
    expect(codec.read(frame, true).type).toBe('audio');
  });

  it('sends audio as it is, and marks, clears and the reason of an end as JSON', () => {
    const codec = started();
    const to = sink();
    codec.audio(frame, to);
    codec.mark('a"b', to);
    codec.clear(to);
    expect(codec.goodbye('said goodbye', to)).toBe('close');
    expect(to.sent).toEqual([
      frame,
      '{"type":"mark","name":"a\\"b"}',
      '{"type":"clear"}',
      '{"type":"stop","reason":"said goodbye"}',
    ]);
  });

  it('never throws, whatever comes, and reads what comes after it', () =>
    expectSurvival(started, frame, true, 'start', 'type', 'rateHz', 'digit', 'mark', 'name', 'clear'));
});

it('has a door that only this gateway opens', () => {
  const config = { settings: browser.settings.parse({}), secrets: {} };
  const door = browser.door(config, [], {
    clock: { nowMs: () => 0, wallMs: () => 0, after: () => ({ cancel: () => undefined }) },
    gatewayUrl: () => '',
  });
  expect(door).toEqual({ kind: 'page', streamTokenMs: 20_000 });
  expect(browser.proof).toBeUndefined();
});
