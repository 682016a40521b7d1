import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openAudio, plainBytesOf, sealAudio, sealedBytesOf } from '../../../../src/records/objects/sealed-audio.ts';
import { thorough } from '../../../support/thorough.ts';

const key = Buffer.alloc(32, 3);

async function collect(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const part of parts) pieces.push(part);
  return Buffer.concat(pieces);
}

async function* pieces(bytes: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const fileOf = (sealed: Buffer) => ({
  sealedBytes: sealed.length,
  read: (start: number, end: number) => pieces(sealed.subarray(start, end), 10_007),
});

const plainOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => (index * 31) % 251));

describe('a sealed recording', () => {
  it('opens in any range, however it was cut on the way', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 100, 65_535, 65_536, 65_537, 131_072, 200_000),
        fc.integer({ min: 1, max: 90_000 }),
        fc.nat(210_000),
        fc.nat(210_000),
        async (length, cut, a, b) => {
          const plain = plainOf(length);
          const sealed = await collect(sealAudio(key, 'r', pieces(plain, cut), length));
          expect(sealed.length).toBe(sealedBytesOf(length));
          expect(plainBytesOf(sealed.length)).toBe(length);
          const [start, end] = [Math.min(a, b), Math.max(a, b)];
          const opened = await collect(openAudio(key, 'r', fileOf(sealed), start, end));
          expect(opened.equals(plain.subarray(start, end))).toBe(true);
        },
      ),
      { numRuns: thorough(14, 40) },
    );
  });

  it('does not open for another call or key, nor with chunks cut off, exchanged or changed', async () => {
    const plain = plainOf(150_000);
    const sealed = await collect(sealAudio(key, 'r', pieces(plain, 65_536), plain.length));
    const whole = (bytes: Buffer, about = 'r', with_ = key) => collect(openAudio(with_, about, fileOf(bytes), 0, plain.length));
    const failure = { code: 'OFFHOOK_STORE_KEY' };
    await expect(whole(sealed, 'other')).rejects.toMatchObject(failure);
    await expect(whole(sealed, 'r', Buffer.alloc(32, 4))).rejects.toMatchObject(failure);
    const chunk = 65_536 + 16;
    const cut = sealed.subarray(0, 16 + 2 * chunk);
    await expect(collect(openAudio(key, 'r', fileOf(cut), 0, 131_072))).rejects.toMatchObject(failure);
    await expect(whole(sealed.subarray(0, 16 + chunk + 20))).rejects.toMatchObject(failure);
    const swapped = Buffer.concat([
      sealed.subarray(0, 16),
      sealed.subarray(16 + chunk, 16 + 2 * chunk),
      sealed.subarray(16, 16 + chunk),
      sealed.subarray(16 + 2 * chunk),
    ]);
    await expect(whole(swapped)).rejects.toMatchObject(failure);
    const changed = Buffer.from(sealed);
    changed[100]! ^= 1;
    await expect(whole(changed)).rejects.toMatchObject(failure);
  });

  it('is not made of a file that is longer or shorter than was said', async () => {
    for (const said of [99, 101]) {
      await expect(collect(sealAudio(key, 'r', pieces(plainOf(100), 7), said))).rejects.toThrow(RangeError);
    }
  });
});
