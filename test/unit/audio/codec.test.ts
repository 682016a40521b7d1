import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import { idleByte, type Encoding } from '../../../src/audio/format.ts';

const encodings: readonly Encoding[] = ['mulaw', 'alaw', 'pcm16'];

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

it('keeps linear samples exactly, at any alignment and without sharing memory', () => {
  fc.assert(
    fc.property(fc.int16Array(), fc.integer({ min: 0, max: 3 }), (pcm, offset) => {
      const wire = encodeAudio('pcm16', pcm);
      const shifted = new Uint8Array(wire.length + offset);
      shifted.set(wire, offset);
      const decoded = decodeAudio('pcm16', shifted.subarray(offset));
      expect(decoded).toEqual(pcm);
      shifted.fill(1);
      expect(decoded).toEqual(pcm);
    }),
  );
});

it('is little-endian on the wire', () => {
  expect([...encodeAudio('pcm16', Int16Array.of(0x1234, -2))]).toEqual([0x34, 0x12, 0xfe, 0xff]);
});

it('drops half a sample at the end', () => {
  expect([...decodeAudio('pcm16', Uint8Array.of(1, 0, 2))]).toEqual([1]);
});

it('encodes a view into a larger buffer, and nothing around it', () => {
  const whole = Int16Array.of(9, 1, 2, 9);
  expect([...encodeAudio('pcm16', whole.subarray(1, 3))]).toEqual([1, 0, 2, 0]);
});
