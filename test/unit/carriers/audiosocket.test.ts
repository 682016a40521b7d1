import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audiosocket } from '../../../src/carriers/audiosocket/carrier.ts';
import { AudioSocketCodec, framing, uuidOf } from '../../../src/carriers/audiosocket/codec.ts';
import type { MessageSink } from '../../../src/carriers/media-codec.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const message = (kind: number, payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([kind, payload.length >> 8, payload.length & 0xff]), payload]);
/** As Asterisk 22.10.1 sent it for 8f6a450e-216d-46a4-baf5-cb3655f8f6dd. */
const named = message(0x01, Buffer.from('8f6a450e216d46a4baf5cb3655f8f6dd', 'hex'));
const frame = (kind = 0x10, bytes = 320): Buffer => message(kind, Buffer.alloc(bytes, 5));

function started(kind = 0x10, bytes = 320): AudioSocketCodec {
  const codec = new AudioSocketCodec();
  expect(codec.read(named)).toEqual({ type: 'connected' });
  expect(codec.read(frame(kind, bytes)).type).toBe('started');
  return codec;
}

function sink(): MessageSink & { readonly sent: Buffer[] } {
  const sent: Buffer[] = [];
  let room = Buffer.alloc(0);
  return {
    sent,
    room: (length) => (room = Buffer.alloc(length)),
    send: (_kind, length) => void sent.push(room.subarray(0, length)),
    sendText: () => undefined,
  };
}

describe('AudioSocketCodec', () => {
  it.each([
    [0x10, 320, 8_000],
    [0x12, 640, 16_000],
    [0x13, 960, 24_000],
    [0x16, 1_920, 48_000],
  ])('starts with the first audio, of kind %i, and sends the same', (kind, bytes, rateHz) => {
    const codec = new AudioSocketCodec();
    codec.read(named);
    const format = { encoding: 'pcm16', rateHz };
    const streamId = '8f6a450e-216d-46a4-baf5-cb3655f8f6dd';
    expect(codec.read(frame(kind, bytes))).toMatchObject({ type: 'started', streamId, inbound: format, outbound: format });
    expect(codec.read(frame(kind, bytes))).toMatchObject({ type: 'audio', payload: frame(kind, bytes).subarray(3) });
    const to = sink();
    const audio = Uint8Array.from({ length: 2 * bytes }, (_, at) => at % 251);
    codec.audio(audio, to);
    expect(to.sent).toEqual([message(kind, audio.subarray(0, bytes)), message(kind, audio.subarray(bytes))]);
  });

  it('reads keys, the end and errors, and says goodbye by a hang-up', () => {
    const codec = started();
    expect(codec.read(message(0x03, Buffer.from('#')))).toEqual({ type: 'digit', digit: '#' });
    expect(codec.read(message(0x03, Buffer.from('??'))).type).toBe('rejected');
    expect(codec.read(message(0xff, Buffer.from([2]))).type).toBe('rejected');
    expect(codec.read(message(0x00, Buffer.alloc(0)))).toEqual({ type: 'stopped', reason: 'hang-up' });
    const to = sink();
    expect(codec.goodbye('over', to)).toBe('close');
    expect(to.sent).toEqual([Buffer.from([0, 0, 0])]);
  });

  it.each([
    ['audio before the UUID', [frame()]],
    ['a UUID that is too short', [message(0x01, Buffer.alloc(15))]],
    ['mu-law under the kind of linear samples', [named, frame(0x10, 160)]],
    ['a rate that it has not', [named, frame(0x15, 1_764)]],
    ['half a sample', [named, frame(0x10, 321)]],
  ])('refuses %s for good', (_, messages) => {
    const codec = new AudioSocketCodec();
    expect(messages.map((one) => codec.read(one)).at(-1)).toMatchObject({ type: 'rejected', fatal: true });
  });

  it('keeps its rate and its UUID, whatever comes later', () => {
    const codec = started();
    for (const wrong of [named, frame(0x12, 640), frame(0x10, 160)]) {
      const result = codec.read(wrong);
      expect(result.type).toBe('rejected');
      expect(result).not.toMatchObject({ fatal: true });
    }
    expect(codec.read(frame()).type).toBe('audio');
  });

  it('never throws, whatever comes, and reads what comes after it', () => {
    const kinds = fc.constantFrom(0, 1, 3, 0x10, 0x12, 0x15, 0x18, 0xff, 0x77);
    const messages = fc.array(fc.tuple(kinds, fc.uint8Array({ maxLength: 700 })), { maxLength: 20 });
    fc.assert(
      fc.property(messages, (all) => {
        const codec = started();
        for (const [kind, payload] of all) codec.read(message(kind, payload));
        codec.read(Buffer.alloc(0));
        expect(codec.read(frame()).type).toBe('audio');
      }),
    );
  });
});

describe('framing', () => {
  it('knows the length of every message by its head, and heads that begin none', () => {
    for (const one of [named, frame(), frame(0x18, 7_680), message(0x03, Buffer.from('1')), message(0, Buffer.alloc(0))])
      expect(framing.lengthOf(one.subarray(0, framing.headBytes))).toBe(one.length);
    for (const kind of [0x02, 0x04, 0x19, 0x47, 0xfe]) expect(framing.lengthOf(Uint8Array.from([kind, 0, 1]))).toBeUndefined();
  });

  it('keeps a connection up by whole silent frames', () => {
    const { message: silent } = framing.idle;
    expect(framing.lengthOf(silent.subarray(0, 3))).toBe(silent.length);
    expect(silent.subarray(3).every((byte) => byte === 0)).toBe(true);
  });
});

describe("AudioSocket's door", () => {
  const clock = new ManualClock();
  const config = { settings: audiosocket.settings.parse({ port: 9092 }), secrets: {} };
  const door = audiosocket.door(config, [new Secret('s3cret')], { clock, gatewayUrl: () => '' });
  if (door.kind !== 'webhook' || door.tcp === undefined || door.answers.by !== 'document') throw new TypeError('another door');
  const { answers, tcp } = door;
  const uuidFor = (token: string): Buffer => {
    const url = `ws://127.0.0.1/carriers/audiosocket/stream/${token}`;
    const uuid = answers.stream({ url, statusUrl: '', callId: 'call_1', carrierCallId: '17.1' });
    return message(0x01, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
  };

  it('gives a UUID for each stream token, good for one connection', () => {
    const [first, second] = [uuidFor('a.b.c'), uuidFor('d.e.f')];
    expect(uuidOf(first)).not.toBe(uuidOf(second));
    expect([tcp.tokenOf(second), tcp.tokenOf(first), tcp.tokenOf(first), tcp.tokenOf(named)]).toEqual([
      'd.e.f',
      'a.b.c',
      undefined,
      undefined,
    ]);
  });

  it('forgets a UUID when its token is over', () => {
    const given = uuidFor('a.b.c');
    clock.advance(60_001);
    expect(tcp.tokenOf(given)).toBeUndefined();
  });

  it('reads the call that asks for one, dialled ones too', () => {
    const form = { call: '1795440311.0', from: '+4930123456', to: '100' };
    expect(door.readCall(form, 'clinic')).toMatchObject({ carrierCallId: form.call, direction: 'inbound', botName: 'clinic' });
    expect(door.readCall({ token: 'a.b.c' }, undefined)).toEqual({ token: 'a.b.c' });
    expect(door.readCall({ call: 'a b' }, undefined)).toBeUndefined();
  });

  it('listens nowhere without a port', () => {
    const closed = audiosocket.door({ settings: audiosocket.settings.parse({}), secrets: {} }, [], {
      clock,
      gatewayUrl: () => '',
    });
    expect(closed.kind === 'webhook' && closed.tcp?.listen).toBeUndefined();
  });
});
