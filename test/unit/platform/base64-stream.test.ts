import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../../src/platform/server/uploads/upload-form.ts';

/** Decodes a text that arrives in pieces cut at these places. */
async function decode(text: string, cuts: readonly number[] = []): Promise<Buffer> {
  async function* pieces(): AsyncIterable<Uint8Array> {
    const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
    for (const [index, from] of places.entries()) yield Buffer.from(text.slice(from, places[index + 1] ?? text.length));
  }
  const parts: Uint8Array[] = [];
  for await (const part of decodeBase64(pieces())) parts.push(part);
  return Buffer.concat(parts);
}

describe('base64 as it arrives', () => {
  it('gives the bytes back, however it is cut, lettered, padded, prefixed or broken into lines', async () => {
    const prefix = fc.constantFrom('', 'data:audio/wav;base64,', 'data:,');
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.array(fc.nat(400), { maxLength: 8 }),
        fc.constantFrom('base64', 'base64url'),
        prefix,
        fc.boolean(),
        async (bytes, cuts, letters, start, lines) => {
          const encoded = Buffer.from(bytes).toString(letters);
          const text = start + (lines ? encoded.replaceAll(/.{20}/g, '$&\r\n') : encoded);
          expect(await decode(text, cuts)).toEqual(Buffer.from(bytes));
        },
      ),
      { seed: 3 },
    );
  });

  it.each(['', '   ', '!!!!', 'A', 'AAAAA', 'AA=A', 'AAA=AAAA', 'AAAA====', 'data:', 'data:audio/wav;base64,', 'कखगघ'])(
    'refuses %j',
    async (text) => {
      for (const cuts of [[], [1], [1, 2, 3]]) await expect(decode(text, cuts)).rejects.toMatchObject({ status: 400 });
    },
  );
});
