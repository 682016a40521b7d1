import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeAudio, decodeAudioInto, encodeAudio, encodeAudioInto, LentBytes, LentSamples } from '../../../src/audio/codec.ts';
import { durationMs, formatOf, idleByte, type WireEncoding } from '../../../src/audio/format.ts';

const encodings: readonly WireEncoding[] = ['mulaw', 'alaw', 'pcm16', 'pcm16be'];
const allSamples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);

test.each(encodings)('%s comes back as it was after a first pass through the codec', (encoding) => {
  fc.assert(
    fc.property(fc.int16Array(), (pcm) => {
      const once = decodeAudio(encoding, encodeAudio(encoding, pcm));
      expect(once).toHaveLength(pcm.length);
      expect(decodeAudio(encoding, encodeAudio(encoding, once))).toEqual(once);
    }),
  );
});

test.each(encodings)('%s has an idle byte that is silent', (encoding) => {
  const pcm = decodeAudio(encoding, new Uint8Array(320).fill(idleByte(encoding)));
  expect(Math.max(...pcm.map(Math.abs))).toBeLessThanOrEqual(8);
});

describe.each(['pcm16', 'pcm16be'] as const)('%s', (encoding) => {
  const isLittle = encoding === 'pcm16';

  it('writes and reads all 65,536 samples in its byte order', () => {
    const wire = encodeAudio(encoding, allSamples);
    const view = new DataView(wire.buffer, wire.byteOffset, wire.byteLength);
    for (const [index, sample] of allSamples.entries())
      if (view.getInt16(index * 2, isLittle) !== sample) expect.fail(`sample ${sample}`);
    expect(decodeAudio(encoding, wire)).toEqual(allSamples);
  });

  it('keeps samples exactly, at any alignment and without sharing memory', () => {
    fc.assert(
      fc.property(fc.int16Array(), fc.integer({ min: 0, max: 3 }), (pcm, offset) => {
        const wire = encodeAudio(encoding, pcm);
        const shifted = new Uint8Array(wire.length + offset);
        shifted.set(wire, offset);
        const decoded = decodeAudio(encoding, shifted.subarray(offset));
        expect(decoded).toEqual(pcm);
        shifted.fill(1);
        expect(decoded).toEqual(pcm);
      }),
    );
  });

  it('drops half a sample at the end of a message, and begins the next message with a whole one', () => {
    const lent = new LentSamples();
    const odd = Uint8Array.of(...encodeAudio(encoding, Int16Array.of(0x1234)), 2);
    for (const payload of [odd, encodeAudio(encoding, Int16Array.of(0x1234)), odd])
      expect([...lent.decode(encoding, payload)]).toEqual([0x1234]);
    expect(decodeAudio(encoding, Uint8Array.of(7))).toHaveLength(0);
  });

  it('writes into memory that is given, and refuses too little of it', () => {
    const samples = new Int16Array(3).fill(7);
    expect(decodeAudioInto(encoding, encodeAudio(encoding, Int16Array.of(1, 2)), samples)).toBe(2);
    expect([...samples]).toEqual([1, 2, 7]);
    const bytes = new Uint8Array(5).fill(9);
    expect(encodeAudioInto(encoding, Int16Array.of(1, 2), bytes)).toBe(4);
    expect([...bytes]).toEqual(isLittle ? [1, 0, 2, 0, 9] : [0, 1, 0, 2, 9]);
    expect(() => decodeAudioInto(encoding, bytes, new Int16Array(1))).toThrow(RangeError);
    expect(() => encodeAudioInto(encoding, samples, bytes)).toThrow(RangeError);
  });

  it('has two bytes a sample, and is kept as little-endian samples', () => {
    expect(durationMs({ encoding, rateHz: 16_000 }, 640)).toBe(20);
    expect(formatOf({ encoding, rateHz: 16_000 })).toEqual({ encoding: 'pcm16', rateHz: 16_000 });
    expect(new LentBytes().encode(encoding, Int16Array.of(-2))).toEqual(Uint8Array.from(isLittle ? [0xfe, 0xff] : [0xff, 0xfe]));
  });
});

it('encodes a view into a larger buffer, and nothing around it', () => {
  const whole = Int16Array.of(9, 1, 2, 9);
  expect([...encodeAudio('pcm16', whole.subarray(1, 3))]).toEqual([1, 0, 2, 0]);
});
