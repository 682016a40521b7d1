import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { FLAC_BLOCK, FLAC_HEAD_BYTES, FlacEncoder } from '../../../../src/audio/flac/flac-encoder.ts';
import { decodeMulaw } from '../../../../src/audio/g711.ts';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { bytesInMemory } from '../../../../src/audio/byte-source.ts';
import { flacBlocks } from '../../../../src/audio/flac/flac-decoder.ts';
import { thorough } from '../../../support/thorough.ts';

function encoded(interleaved: Int16Array, channels: number, rateHz = 8000): Buffer {
  const encoder = new FlacEncoder(rateHz, channels);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < interleaved.length; at += FLAC_BLOCK * channels) {
    frames.push(Uint8Array.from(encoder.frame(interleaved.subarray(at, at + FLAC_BLOCK * channels))));
  }
  return Buffer.concat([encoder.head(), ...frames]);
}

/** Speech-like: a few tones that rise and fall, with noise, as a telephone line carries them or not. */
function murmur(length: number, { level, noise, mulaw }: { level: number; noise: number; mulaw: boolean }): Int16Array {
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
  return Int16Array.from({ length }, (_, at) => {
    const swell = Math.sin(at / 3000) ** 2;
    const value = level * swell * (Math.sin(at / 9) + 0.5 * Math.sin(at / 3.7)) + noise * random();
    const whole = Math.max(-32_768, Math.min(32_767, Math.round(value)));
    return mulaw ? (decodeMulaw(Uint8Array.of(Math.abs(whole) % 256))[0] ?? 0) : whole;
  });
}

/** Long ones are compared faster so. */
function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

describe('FlacEncoder', () => {
  const decoded = async (file: Buffer): Promise<Int16Array> => {
    const parts: Int16Array[] = [];
    for await (const { channels, samples } of flacBlocks(bytesInMemory(file))) {
      const sides = channels.length;
      const length = samples * sides;
      parts.push(Int16Array.from({ length }, (_, at) => Math.round(channels[at % sides]![Math.floor(at / sides)]! * 32_767)));
    }
    return joinSamples(parts);
  };
  test.each([
    { note: 'silence', pcm: new Int16Array(20_000), channels: 2 },
    { note: 'one value that is not 0', pcm: new Int16Array(9000).fill(-3), channels: 1 },
    { note: 'a murmur on two sides', pcm: murmur(20_001 * 2, { level: 6000, noise: 300, mulaw: false }), channels: 2 },
    {
      note: 'noise at full level, which cannot be predicted',
      pcm: murmur(40_000, { level: 0, noise: 65_535, mulaw: false }),
      channels: 2,
    },
    {
      note: 'extremes that alternate',
      pcm: Int16Array.from({ length: 8193 }, (_, at) => (at % 2 === 0 ? 32_767 : -32_768)),
      channels: 1,
    },
    { note: 'sound that was mu-law once', pcm: murmur(30_000, { level: 9000, noise: 40, mulaw: true }), channels: 2 },
    { note: 'a single sample', pcm: Int16Array.of(1234), channels: 1 },
    { note: 'three samples of each side', pcm: Int16Array.of(1, -1, 30_000, -30_000, 7, 9), channels: 2 },
    {
      note: 'over 128 frames, whose numbers take two bytes',
      pcm: new Int16Array(FLAC_BLOCK * 130),
      channels: 1,
    },
  ])('loses nothing of $note', async ({ pcm, channels }) => {
    expect(Buffer.compare(bytesOf(await decoded(encoded(pcm, channels))), bytesOf(pcm))).toBe(0);
  });

  it('loses no sample for any number of samples', async () => {
    const runs = fc.array(fc.tuple(fc.integer({ min: -32_768, max: 32_767 }), fc.integer({ min: 1, max: 600 }), fc.nat(3)), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(runs, fc.constantFrom(1, 2), fc.nat(4), async (stretches, channels, shift) => {
        const wild = stretches.flatMap(([value, count, step]) =>
          Array.from({ length: count }, (_, at) => Math.max(-32_768, Math.min(32_767, value + at * step * step)) & (-1 << shift)),
        );
        const pcm = Int16Array.from(wild.slice(0, wild.length - (wild.length % channels)));
        if (pcm.length === 0) return;
        expect(Buffer.compare(bytesOf(await decoded(encoded(pcm, channels))), bytesOf(pcm))).toBe(0);
      }),
      { numRuns: thorough(34, 100) },
    );
  });

  it('says in its head how much there is, in what frames, and of what checksum', () => {
    const pcm = murmur(10_000, { level: 3000, noise: 100, mulaw: false });
    const file = encoded(pcm, 2, 44_100);
    expect(file.subarray(0, 8).toString('hex')).toBe('664c614380000022');
    expect(file.readUInt16BE(8)).toBe(FLAC_BLOCK);
    const [smallest, largest] = [file.readUIntBE(12, 3), file.readUIntBE(15, 3)];
    expect(smallest + largest).toBe(file.length - FLAC_HEAD_BYTES);
    const packed = file.readBigUInt64BE(18);
    expect(Number(packed >> 44n)).toBe(44_100);
    expect(Number((packed >> 41n) & 7n) + 1).toBe(2);
    expect(Number(packed & 0xf_ffff_ffffn)).toBe(5000);
    expect(file.subarray(26, 42)).toEqual(createHash('md5').update(Buffer.from(pcm.buffer)).digest());
  });

  it('takes about half the bytes of a murmur, two bits a sample less where it was mu-law, and next to none of silence', () => {
    const speech = { level: 6000, noise: 60 };
    const [plain, telephone] = [false, true].map((mulaw) => murmur(40_000, { ...speech, mulaw }));
    const coarse = plain!.map((value) => value & ~3);
    expect(encoded(plain!, 1).length).toBeLessThan(43_000);
    expect(encoded(plain!, 1).length - encoded(coarse, 1).length).toBeGreaterThan(8_000);
    expect(encoded(telephone!, 1).length).toBeLessThan(80_000);
    expect(encoded(new Int16Array(80_000), 2).length).toBeLessThan(250);
  });
});
