import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonCodec } from '../../../src/carriers/json-codec.ts';
import type { WireEvent } from '../../../src/carriers/media-codec.ts';
import { MediaTemplate } from '../../../src/carriers/media-template.ts';
import { twilioDialect } from '../../../src/carriers/twilio/dialect.ts';
import { message } from './fixtures.ts';

const startedCodec = (): JsonCodec => {
  const codec = new JsonCodec(twilioDialect);
  codec.readText(JSON.stringify(message('start')));
  return codec;
};
const plain = (result: WireEvent): unknown =>
  result.type === 'audio' ? { ...result, payload: Buffer.from(result.payload).toString('base64') } : result;
const readAlone = (text: Buffer): unknown => plain(startedCodec().readText(text.toString('utf8')));
const template = (text: string, timestampMs: number | undefined) => MediaTemplate.of(text, twilioDialect.audio, timestampMs);

/** A message as any carrier may write it: keys in any order, more of them, numbers as text or not, blanks or none. */
const messages = fc
  .record({
    order: fc.shuffledSubarray(['event', 'media', 'sequenceNumber', 'streamSid'], { minLength: 4 }),
    mediaOrder: fc.shuffledSubarray(['track', 'chunk', 'timestamp', 'payload', '1', 'x"y'], { minLength: 2 }),
    asNumbers: fc.boolean(),
    blanks: fc.constantFrom(0, 0, 0, 1),
  })
  .map(({ order, mediaOrder, asNumbers, blanks }) => (count: number, payload: string) => {
    const number = asNumbers ? count : String(count);
    const media: Record<string, unknown> = { track: 'inbound', chunk: number, timestamp: number, payload, 1: number, 'x"y': 0 };
    const all: Record<string, unknown> = {
      event: 'media',
      media: Object.fromEntries(mediaOrder.map((key) => [key, media[key]])),
      sequenceNumber: number,
      streamSid: 'MZ12',
    };
    return JSON.stringify(Object.fromEntries(order.map((key) => [key, all[key]])), undefined, blanks);
  });
const counts = fc.oneof(fc.nat(2_000), fc.constantFrom(0, 9, 10, 1e14, 1e15, 1e16));
const payloads = fc.oneof(
  fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.constantFrom('', 'AAAA', '12345678', 'AAAA====', 'AAA"AAAA', 'AA\\AAAAA', 'äAAAAAAA', '-_-_-_-_', 'AAAAAAA=', 'AAA AAAA'),
);

describe('messages of a stream, one after the other', () => {
  it('are read as each would be alone, whatever is written between them', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.tuple(counts, payloads), { minLength: 2, maxLength: 8 }), (write, said) => {
        const codec = startedCodec();
        for (const [count, payload] of said) {
          const text = Buffer.from(write(count, payload));
          expect(plain(codec.read(text, false))).toEqual(readAlone(text));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('are read as each would be alone when one of them is damaged', () => {
    const damage = fc.record({
      at: fc.nat(400),
      drop: fc.nat(3),
      insert: fc.constantFrom('', '0', '"', '\\', '{', ',', ':1,', 'é', '='),
    });
    fc.assert(
      fc.property(messages, damage, (write, { at, drop, insert }) => {
        const codec = startedCodec();
        for (const count of [1, 2]) codec.read(Buffer.from(write(count, '/////w==')), false);
        const text = Buffer.from(write(3, 'AAAAAA=='));
        const place = at % text.length;
        const damaged = Buffer.concat([text.subarray(0, place), Buffer.from(insert), text.subarray(place + drop)]);
        expect(plain(codec.read(damaged, false))).toEqual(readAlone(damaged));
        expect(plain(codec.read(text, false))).toEqual(readAlone(text));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['padded', ['//8=', 'AAA=']],
    ['not padded', ['//8', 'AAA', '/w', 'AA']],
    ['padded by too much', ['AAA==', '//8==', 'AAA==']],
    ['with bits behind the last byte', ['AA==', 'AB==', '/9==']],
    ['of the alphabet of addresses', ['AAAA', '-_-_', '__==', '-_8=', '+/8=']],
    ['of no byte', ['A', '=', '=', '==', 'AAAA', '====']],
  ])('are read as each would be alone when their base64 is %s', (_note, said) => {
    const codec = startedCodec();
    for (const payload of said) {
      const text = Buffer.from(JSON.stringify({ event: 'media', media: { payload, timestamp: '20' } }));
      expect(plain(codec.read(text, false))).toEqual(readAlone(text));
    }
  });

  it('are audio no more once the stream has stopped', () => {
    const codec = startedCodec();
    const media = Buffer.from(JSON.stringify(message('media')));
    expect(codec.read(media, false).type).toBe('audio');
    codec.read(Buffer.from(JSON.stringify(message('stop'))), false);
    expect(codec.read(media, false)).toMatchObject({ type: 'rejected', problem: expect.stringContaining('after stop') });
  });
});

describe('a template', () => {
  const text = '{"event":"media","media":{"chunk":"1","payload":"AAAA","timestamp":"20"},"n":7,"streamSid":"MZ1"}';

  it('fits messages that count on, and tells their time and where their payload is', () => {
    const made = template(text, 20);
    const next = Buffer.from(text.replace('"1"', '"10"').replace('"20"', '"00220"').replace(':7', ':8').replace('AAAA', '////'));
    expect(made?.fits(next)).toBe(true);
    expect(made?.timestampMs).toBe(220);
    expect(next.toString('latin1', made?.payloadStart, made?.payloadEnd)).toBe('////');
  });

  it('counts in bytes what is not ASCII', () => {
    const other = text.replace('MZ1', 'é€😀').replace('"event"', '"ü":"5","event"');
    const made = template(other, 20);
    const next = Buffer.from(other.replace('"5"', '"55"').replace('AAAA', '////'));
    expect(made?.fits(next)).toBe(true);
    expect(next.toString('latin1', made?.payloadStart, made?.payloadEnd)).toBe('////');
    expect(made?.fits(Buffer.from(other.replace('é', 'è')))).toBe(false);
  });

  it.each([
    ['a longer payload', text.replace('AAAA', 'AAAAAAAA')],
    ['another stream', text.replace('MZ1', 'MZ2')],
    ['no digits where there were some', text.replace('"20"', '""')],
    ['more digits than a number holds', text.replace('"20"', '"1234567890123456"')],
    ['a number with a zero in front', text.replace(':7', ':07')],
    ['more behind it', `${text} `],
    ['less of it', text.slice(0, -1)],
  ])('does not fit %s', (_note, other) => expect(template(text, 20)?.fits(Buffer.from(other))).toBe(false));

  it.each([
    ['a payload under two keys', '{"media":{"payload":"AAAA","payload":"AAAA"}}', undefined],
    ['an escape', '{"media":{"payload":"AAAA"},"a":"\\u0041"}', undefined],
    ['a blank before the payload', '{"media":{"payload": "AAAA"}}', undefined],
    ['a time of another place', '{"timestamp":"5","media":{"payload":"AAAA"}}', undefined],
    ['a time that is no whole number', '{"media":{"payload":"AAAA","timestamp":"2.5"}}', 2.5],
  ])('is not made of %s', (_note, other, timeMs) => expect(template(other, timeMs)).toBeUndefined());
});
