import alawmulaw from 'alawmulaw';
import { describe, expect, it, test } from 'vitest';
import { decodeAlaw, decodeMulaw, decodeMulawInto, encodeAlaw, encodeMulaw, encodeMulawInto } from '../../../src/audio/g711.ts';

const allCodes = Uint8Array.from({ length: 256 }, (_, code) => code);
const allSamples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);

/**
 * The lower edge of each negative quantising step but the outermost: 127 inputs a law, which belong to the step nearer to zero
 * (ITU-T G.191 complements a negative number before it shifts) and which `alawmulaw` puts into the next louder one.
 */
const mulawBoundaries = boundaries(16, (segment) => 8 << segment, 4);
const alawBoundaries = boundaries(16, (segment) => 16 << Math.max(0, segment - 1), 16);

function boundaries(steps: number, width: (segment: number) => number, first: number): number[] {
  const found: number[] = [];
  for (let at = first, step = 0; found.length < 127; step += 1) {
    found.push(-at);
    at += width(Math.floor((step + 1) / steps));
  }
  return found;
}

describe('mu-law', () => {
  it('names the 127 boundaries as they are published', () => {
    expect(mulawBoundaries.slice(0, 3)).toEqual([-4, -12, -20]);
    expect(mulawBoundaries.slice(-4)).toEqual([-28_540, -29_564, -30_588, -31_612]);
  });

  it("differs from alawmulaw's encoder at exactly those, by one step", () => {
    const ours = encodeMulaw(allSamples);
    const theirs = alawmulaw.mulaw.encode(allSamples);
    const differing = [...allSamples].filter((_, index) => ours[index] !== theirs[index]);
    expect(differing.sort((a, b) => b - a)).toEqual(mulawBoundaries);
    for (const [index, code] of ours.entries()) {
      // Codes of negative samples fall as loudness rises.
      if (code !== theirs[index]) expect(code).toBe(theirs[index]! + 1);
    }
  });

  it('puts each boundary into the step nearer to zero, and the sample below it into the next', () => {
    for (const boundary of mulawBoundaries) {
      const [at, above, below] = encodeMulaw(Int16Array.of(boundary, boundary + 1, boundary - 1));
      expect(at, String(boundary)).toBe(above);
      expect(below, String(boundary)).not.toBe(at);
    }
  });

  test.each([
    { sample: 0, code: 0xff },
    { sample: -1, code: 0x7f },
    { sample: 32_767, code: 0x80 },
    { sample: -32_768, code: 0x00 },
    { sample: 1000, code: 0xce },
  ])('encodes a known sample (%o)', ({ sample, code }) => expect(encodeMulaw(Int16Array.of(sample))[0]).toBe(code));

  it('loses nothing when decoded audio is encoded again', () => {
    const once = decodeMulaw(allCodes);
    expect(decodeMulaw(encodeMulaw(once))).toEqual(once);
    expect(once).toEqual(alawmulaw.mulaw.decode(allCodes));
  });

  it('writes into memory that is given, and refuses too little of it', () => {
    const pcm = new Int16Array(300).fill(7);
    expect(decodeMulawInto(allCodes, pcm)).toBe(256);
    expect(pcm.subarray(0, 256)).toEqual(decodeMulaw(allCodes));
    expect(pcm[256]).toBe(7);
    expect(() => decodeMulawInto(allCodes, new Int16Array(255))).toThrow(RangeError);
    expect(() => encodeMulawInto(new Int16Array(2), new Uint8Array(1))).toThrow(RangeError);
  });
});

describe('A-law', () => {
  it('names the 127 boundaries as they are published', () => {
    expect(alawBoundaries[0]).toBe(-16);
    expect(alawBoundaries.at(-1)).toBe(-31_744);
  });

  it("differs from alawmulaw's encoder at exactly those", () => {
    const ours = encodeAlaw(allSamples);
    const theirs = alawmulaw.alaw.encode(allSamples);
    const differing = [...allSamples].filter((_, index) => ours[index] !== theirs[index]);
    expect(differing.sort((a, b) => b - a)).toEqual(alawBoundaries);
  });

  it('puts each boundary into the step nearer to zero, and the sample below it into the next', () => {
    for (const boundary of alawBoundaries) {
      const [at, above, below] = encodeAlaw(Int16Array.of(boundary, boundary + 1, boundary - 1));
      expect(at, String(boundary)).toBe(above);
      expect(below, String(boundary)).not.toBe(at);
    }
  });

  test.each([
    { sample: 0, code: 0xd5 },
    { sample: -1, code: 0x55 },
    { sample: 32_767, code: 0xaa },
    { sample: -32_768, code: 0x2a },
  ])('encodes a known sample (%o)', ({ sample, code }) => expect(encodeAlaw(Int16Array.of(sample))[0]).toBe(code));

  it('loses nothing when decoded audio is encoded again', () => {
    const once = decodeAlaw(allCodes);
    expect(decodeAlaw(encodeAlaw(once))).toEqual(once);
    expect(once).toEqual(alawmulaw.alaw.decode(allCodes));
  });
});
