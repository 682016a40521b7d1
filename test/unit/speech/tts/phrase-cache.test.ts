import { describe, expect, it, test } from 'vitest';
import type { SynthesisRequest, Synthesizer } from '../../../../src/speech/port.ts';
import { PhraseCache } from '../../../../src/speech/tts/phrase-cache.ts';

const { signal } = new AbortController();
const hello: SynthesisRequest = { text: 'Hello.', voice: 'Varun', language: 'en' };

/** Speaks as many bytes as the text has characters, in two parts, and counts. */
class CountingSynthesizer implements Synthesizer {
  readonly spoken: string[] = [];
  failAt: string | undefined;

  async *speak({ text }: SynthesisRequest): AsyncIterable<Uint8Array> {
    this.spoken.push(text);
    // One array for all parts, as a socket's buffer may be.
    const part = new Uint8Array(Math.ceil(text.length / 2)).fill(this.spoken.length);
    yield part;
    if (text === this.failAt) throw new Error('lost');
    if (text.length > 1) yield part.subarray(0, text.length - part.length);
    part.fill(0);
  }
}

async function bytesOf(audio: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of audio) parts.push(Uint8Array.from(part));
  return Buffer.concat(parts);
}

const phrase = (length: number, letter = 'a'): SynthesisRequest => ({ ...hello, text: letter.repeat(length) });

describe('phrase cache', () => {
  it('speaks what was prepared from memory, as it was spoken', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = new PhraseCache(synthesizer);
    await cache.prepare([hello], signal);
    expect(await bytesOf(cache.speak(hello, signal))).toEqual(Buffer.alloc(6, 1));
    expect(cache.cached({ ...hello, speed: 1 })).toEqual(Buffer.alloc(6, 1));
    expect(synthesizer.spoken).toEqual(['Hello.']);
  });

  test.each([{ text: 'Hello!' }, { voice: 'Nisha' }, { language: 'hi' }, { speed: 1.1 }])(
    'knows it apart from another sound: %j',
    async (other) => {
      const cache = new PhraseCache(new CountingSynthesizer());
      await cache.prepare([hello], signal);
      expect(cache.cached({ ...hello, ...other })).toBeUndefined();
    },
  );

  it('does not keep what was only spoken: it may be about a caller', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = new PhraseCache(synthesizer);
    await bytesOf(cache.speak(hello, signal));
    await bytesOf(cache.speak(hello, signal));
    expect(synthesizer.spoken).toHaveLength(2);
  });

  it('prepares each sentence once', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = new PhraseCache(synthesizer);
    await cache.prepare([hello, hello], signal);
    await cache.prepare([hello], signal);
    expect(synthesizer.spoken).toHaveLength(1);
  });

  it('lets the least recently used go first when it is full', async () => {
    const cache = new PhraseCache(new CountingSynthesizer(), 10);
    const [a, b, c] = [phrase(4, 'a'), phrase(4, 'b'), phrase(4, 'c')];
    await cache.prepare([a, b], signal);
    cache.cached(a);
    await cache.prepare([c], signal);
    expect([a, b, c].map((request) => cache.cached(request) !== undefined)).toEqual([true, false, true]);
  });

  it('counts a sentence once that two prepare at the same time', async () => {
    const cache = new PhraseCache(new CountingSynthesizer(), 10);
    const [a, b] = [phrase(4, 'a'), phrase(4, 'b')];
    await Promise.all([cache.prepare([a], signal), cache.prepare([a], signal)]);
    await cache.prepare([b], signal);
    expect(cache.cached(a)).toBeDefined();
    expect(cache.cached(b)).toBeDefined();
  });

  it('keeps what was prepared before one failed, and no part of that one', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = new PhraseCache(synthesizer);
    const [a, b, c] = [phrase(4, 'a'), phrase(4, 'b'), phrase(4, 'c')];
    synthesizer.failAt = b.text;
    await expect(cache.prepare([a, b, c], signal)).rejects.toThrow('lost');
    expect([a, b, c].map((request) => cache.cached(request) !== undefined)).toEqual([true, false, false]);
  });

  it('keeps neither nothing nor more than a minute', async () => {
    const cache = new PhraseCache(new CountingSynthesizer());
    const [none, long] = [phrase(0), phrase(60 * 8_000 + 1)];
    await cache.prepare([none, long], signal);
    expect(cache.cached(none)).toBeUndefined();
    expect(cache.cached(long)).toBeUndefined();
  });
});
