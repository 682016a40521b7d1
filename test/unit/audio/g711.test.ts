import alawmulaw from 'alawmulaw';
import { describe, expect, it, test } from 'vitest';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import { decodeMulaw, decodeMulawInto, encodeMulaw, encodeMulawInto } from '../../../src/audio/g711.ts';

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
    const ours = encodeAudio('alaw', allSamples);
    const theirs = alawmulaw.alaw.encode(allSamples);
    const differing = [...allSamples].filter((_, index) => ours[index] !== theirs[index]);
    expect(differing.sort((a, b) => b - a)).toEqual(alawBoundaries);
  });

  it('puts each boundary into the step nearer to zero, and the sample below it into the next', () => {
    for (const boundary of alawBoundaries) {
      const [at, above, below] = encodeAudio('alaw', Int16Array.of(boundary, boundary + 1, boundary - 1));
      expect(at, String(boundary)).toBe(above);
      expect(below, String(boundary)).not.toBe(at);
    }
  });

  test.each([
    { sample: 0, code: 0xd5 },
    { sample: -1, code: 0x55 },
    { sample: 32_767, code: 0xaa },
    { sample: -32_768, code: 0x2a },
  ])('encodes a known sample (%o)', ({ sample, code }) => expect(encodeAudio('alaw', Int16Array.of(sample))[0]).toBe(code));

  it('loses nothing when decoded audio is encoded again', () => {
    const once = decodeAudio('alaw', allCodes);
    expect(decodeAudio('alaw', encodeAudio('alaw', once))).toEqual(once);
    expect(once).toEqual(alawmulaw.alaw.decode(allCodes));
  });
});

/** Decision values x of one sign, from small to large: runs of `count` values, each `step` apart. */
function decisionValues(start: readonly number[], runs: readonly (readonly [count: number, step: number])[]): number[] {
  const values = [...start];
  for (const [count, step] of runs) for (let index = 0; index < count; index += 1) values.push((values.at(-1) ?? 0) + step);
  return values;
}

/**
 * The laws as tables of ITU-T G.711 give them: the decision values of each segment, a quantized value in the middle of each pair of them, and
 * the character signal. `unit` is one step of the table's own scale (8,159 for mu-law, 4,096 for A-law) in 16-bit samples.
 */
const laws = [
  {
    name: 'mu-law (tables 2a and 2b)',
    unit: 4,
    values: decisionValues([0, 1], [[15, 2], ...[4, 8, 16, 32, 64, 128, 256].map((step) => [16, step] as const)]),
    // All bits are inverted, and a positive sign is a 1.
    code: (step: number, isNegative: boolean) => (isNegative ? 0x7f : 0xff) - step,
    quantized: (low: number, high: number) => (low === 0 ? 0 : (low + high) / 2),
    encode: encodeMulaw,
    decode: decodeMulaw,
  },
  {
    name: 'A-law (tables 1a and 1b)',
    unit: 8,
    values: decisionValues([0], [[32, 2], ...[4, 8, 16, 32, 64, 128].map((step) => [16, step] as const)]),
    // Even bits are inverted, and a positive sign is a 1.
    code: (step: number, isNegative: boolean) => (step + (isNegative ? 0 : 0x80)) ^ 0x55,
    quantized: (low: number, high: number) => (low + high) / 2,
    encode: (pcm: Int16Array) => encodeAudio('alaw', pcm),
    decode: (bytes: Uint8Array) => decodeAudio('alaw', bytes),
  },
];

describe.each(laws)('$name of ITU-T G.711', ({ unit, values, code, quantized, encode, decode }) => {
  /** A value on the lower edge of a step belongs to it; of a negative one, whose least magnitude is 1, to the step nearer to zero. */
  function stepOf(sample: number): number {
    const magnitude = (sample < 0 ? -sample - 1 : sample) / unit;
    const above = values.findIndex((value) => value > magnitude);
    return Math.min(127, (above === -1 ? values.length : above) - 1);
  }

  it('has 128 steps a sign', () => expect(values.length - 1).toBe(128));

  it('encodes all 65,536 samples as its decision values say', () => {
    const expected = Uint8Array.from(allSamples, (sample) => code(stepOf(sample), sample < 0));
    expect(encode(allSamples)).toEqual(expected);
  });

  it('decodes all 256 codes to its quantized values', () => {
    const expected = new Int16Array(256);
    for (let step = 0; step < 128; step += 1) {
      const value = quantized(values[step] ?? 0, values[step + 1] ?? 0) * unit;
      expected[code(step, false)] = value;
      expected[code(step, true)] = -value;
    }
    expect(decode(allCodes)).toEqual(expected);
  });
});
