import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextStream } from '../../../../../src/platform/server/tts/text-stream.ts';

/** Everything that is spoken of these pieces, once the stream has ended. */
async function spoken(pieces: readonly string[]): Promise<string[]> {
  const stretches: string[] = [];
  await new Promise<void>((close, fail) => {
    const speak = async (text: string): Promise<void> => void stretches.push(text);
    const stream = new TextStream({ speak, send: () => undefined, close, fail });
    for (const text of pieces) stream.receive(JSON.stringify({ type: 'text', text }));
    stream.receive('end');
  });
  return stretches;
}

it('loses, adds and reorders no character, however the text is cut', async () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '. ', '.', ' ', '।', '? ', '\n', 'ab, '), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const bare = (text: string): string => text.replaceAll(/\s/g, '');
      expect(bare((await spoken(pieces)).join(''))).toBe(bare(pieces.join('')));
    }),
  );
});

it('keeps the space between two pieces of one sentence', async () => {
  expect(await spoken(['Hello ', 'there', ' you'])).toEqual(['Hello there you']);
});

it('speaks a sentence before the next one is complete', async () => {
  expect(await spoken(['One. Tw', 'o. Three'])).toEqual(['One. ', 'Two. ', 'Three']);
});
