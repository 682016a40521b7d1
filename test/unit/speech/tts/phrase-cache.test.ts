import { PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { SpeechRequestError } from '../../../../src/speech/client/errors.ts';
import type { SynthesisRequest, Synthesizer } from '../../../../src/speech/port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { PhraseFiles } from '../../../../src/speech/tts/phrase-files.ts';
import { PhraseCache, type PhraseCacheOptions, PhraseStore } from '../../../../src/speech/tts/phrase-cache.ts';

const { signal } = new AbortController();
const hello: SynthesisRequest = { text: 'Hello.', voice: 'Varun', language: 'en' };

/** Speaks as many bytes as the text has characters, in two parts, and counts. */
class CountingSynthesizer implements Synthesizer {
  readonly capabilities = PLATFORM_SYNTHESIS;
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

function cacheOn(synthesizer: Synthesizer, options: Partial<PhraseCacheOptions> = {}): PhraseCache {
  return new PhraseCache(synthesizer, { clock: new ManualClock(), ...options });
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-phrases-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function bytesOf(audio: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of audio) parts.push(Uint8Array.from(part));
  return Buffer.concat(parts);
}

const phrase = (length: number, letter = 'a'): SynthesisRequest => ({ ...hello, text: letter.repeat(length) });

describe('phrase cache', () => {
  it('caches no personal sentence over eight seconds, and speaks all of it', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    for (const length of [64_002, 64_000])
      for (let times = 0; times < 2; times += 1) expect(await bytesOf(cache.speak(phrase(length), signal))).toHaveLength(length);
    expect(synthesizer.spoken.map(({ length }) => length)).toEqual([64_002, 64_002, 64_000]);
  });

  it('plays a prepared sentence from memory, unchanged', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    await cache.prepare([hello], signal);
    expect(await bytesOf(cache.speak(hello, signal))).toEqual(Buffer.alloc(6, 1));
    expect(cache.cached({ ...hello, speed: 1 })).toEqual(Buffer.alloc(6, 1));
    expect(synthesizer.spoken).toEqual(['Hello.']);
  });

  test.each([{ text: 'Hello!' }, { voice: 'Nisha' }, { language: 'hi' }, { speed: 1.1 }])(
    'knows it apart from another sound: %j',
    async (other) => {
      const cache = cacheOn(new CountingSynthesizer());
      await cache.prepare([hello], signal);
      expect(cache.cached({ ...hello, ...other })).toBeUndefined();
    },
  );

  it('caches no sentence that the request excludes', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    const weather = { ...hello, isPersonal: false };
    await bytesOf(cache.speak(weather, signal));
    await bytesOf(cache.speak(weather, signal));
    expect(synthesizer.spoken).toHaveLength(2);
  });

  it.each([undefined, true, false])('speaks a prepared sentence from memory, whatever is said of it (%s)', async (isPersonal) => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    await cache.prepare([hello], signal);
    await bytesOf(cache.speak({ ...hello, ...(isPersonal === undefined ? {} : { isPersonal }) }, signal));
    expect(synthesizer.spoken).toHaveLength(1);
  });

  it('prepares each sentence once', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    await cache.prepare([hello, hello], signal);
    await cache.prepare([hello], signal);
    expect(synthesizer.spoken).toHaveLength(1);
  });

  it('removes the least recently used first when it is full', async () => {
    const cache = cacheOn(new CountingSynthesizer(), { mostBytes: 10 });
    const [a, b, c] = [phrase(4, 'a'), phrase(4, 'b'), phrase(4, 'c')];
    await cache.prepare([a, b], signal);
    cache.cached(a);
    await cache.prepare([c], signal);
    expect([a, b, c].map((request) => cache.cached(request) !== undefined)).toEqual([true, false, true]);
  });

  it('counts a sentence once that two prepare at the same time', async () => {
    const cache = cacheOn(new CountingSynthesizer(), { mostBytes: 10 });
    const [a, b] = [phrase(4, 'a'), phrase(4, 'b')];
    await Promise.all([cache.prepare([a], signal), cache.prepare([a], signal)]);
    await cache.prepare([b], signal);
    expect(cache.cached(a)).toBeDefined();
    expect(cache.cached(b)).toBeDefined();
  });

  it('prepares the sentences before and after one that fails, and no part of that one', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    const [a, b, c] = [phrase(4, 'a'), phrase(4, 'b'), phrase(4, 'c')];
    synthesizer.failAt = b.text;
    await expect(cache.prepare([a, b, c], signal)).rejects.toThrow('lost');
    expect([a, b, c].map((request) => cache.cached(request) !== undefined)).toEqual([true, false, true]);
  });

  it('asks a synthesizer that is away for three sentences of a list, and one that refuses sentences for all', async () => {
    const asked: string[] = [];
    const failing = (error: Error): Synthesizer => ({
      capabilities: PLATFORM_SYNTHESIS,
      async *speak({ text }) {
        asked.push(text);
        yield new Uint8Array(2);
        throw error;
      },
    });
    const list = ['a', 'b', 'c', 'd', 'e'].map((letter) => phrase(4, letter));
    await expect(cacheOn(failing(new Error('away'))).prepare(list, signal)).rejects.toThrow('away');
    expect(asked.splice(0)).toHaveLength(3);
    await expect(cacheOn(failing(new SpeechRequestError('no such voice'))).prepare(list, signal)).rejects.toThrow(
      'no such voice',
    );
    expect(asked).toHaveLength(5);
  });

  it('caches neither empty audio nor more than a minute', async () => {
    const cache = cacheOn(new CountingSynthesizer());
    const [none, long] = [phrase(0), phrase(60 * 8_000 + 1)];
    await cache.prepare([none, long], signal);
    expect(cache.cached(none)).toBeUndefined();
    expect(cache.cached(long)).toBeUndefined();
  });
});

describe('sentences that may be about a person', () => {
  const balance: SynthesisRequest = { ...hello, text: 'Your balance is 40,512 rupees.' };

  it.each([balance, { ...balance, isPersonal: true }])('are spoken again from memory, for ten minutes (%j)', async (request) => {
    const synthesizer = new CountingSynthesizer();
    const clock = new ManualClock();
    const cache = cacheOn(synthesizer, { clock });
    const first = await bytesOf(cache.speak(request, signal));
    clock.advance(599_999);
    expect(await bytesOf(cache.speak(request, signal))).toEqual(first);
    expect(synthesizer.spoken).toHaveLength(1);
    clock.advance(1);
    expect(cache.cached(request)).toBeUndefined();
    await bytesOf(cache.speak(request, signal));
    expect(synthesizer.spoken).toHaveLength(2);
  });

  it('never take the place of a prepared one', async () => {
    const cache = cacheOn(new CountingSynthesizer(), { mostBytes: 10, mostPersonalBytes: 100 });
    await cache.prepare([hello], signal);
    for (const letter of 'abcdefgh') await bytesOf(cache.speak(phrase(30, letter), signal));
    expect(cache.cached(hello)).toBeDefined();
    expect(cache.cached(phrase(30, 'a'))).toBeUndefined();
    expect(cache.cached(phrase(30, 'h'))).toBeDefined();
  });

  it('are kept under no readable name or bytes, and not on disk', async () => {
    const set = vi.spyOn(PhraseStore.prototype, 'set');
    onTestFinished(() => set.mockRestore());
    const folder = newFolder();
    const clock = new ManualClock();
    const files = new PhraseFiles({ folder, clock, logger: silentLogger });
    const cache = new PhraseCache(new CountingSynthesizer(), { clock, files });
    const audio = Buffer.from(await bytesOf(cache.speak(balance, signal)));
    expect(cache.cached(balance)).toEqual(audio);
    const [name, bytes] = set.mock.calls[0]!;
    expect(name).not.toContain('balance');
    expect(Buffer.from(bytes).includes(audio.subarray(0, 8))).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are not kept when they were not spoken to their end', async () => {
    const synthesizer = new CountingSynthesizer();
    const cache = cacheOn(synthesizer);
    synthesizer.failAt = balance.text;
    await expect(bytesOf(cache.speak(balance, signal))).rejects.toThrow('lost');
    expect(cache.cached(balance)).toBeUndefined();
  });
});

describe('phrase cache on disk', () => {
  function cacheIn(folder: string, clock = new ManualClock(), more: { mostBytes?: number; source?: string } = {}) {
    const synthesizer = new CountingSynthesizer();
    const { mostBytes, ...options } = more;
    const files = new PhraseFiles({ folder, clock, logger: silentLogger, ...(mostBytes === undefined ? {} : { mostBytes }) });
    return { synthesizer, clock, cache: new PhraseCache(synthesizer, { clock, files, ...options }) };
  }

  it('is there after a restart, unchanged and without speaking again', async () => {
    const folder = newFolder();
    await cacheIn(folder).cache.prepare([hello], signal);
    const { cache, synthesizer } = cacheIn(folder);
    await cache.prepare([hello], signal);
    expect(synthesizer.spoken).toEqual([]);
    expect(Buffer.from(cache.cached(hello)!)).toEqual(Buffer.alloc(6, 1));
  });

  it('is not taken for the sound of another platform', async () => {
    const folder = newFolder();
    await cacheIn(folder, undefined, { source: 'https://one.example' }).cache.prepare([hello], signal);
    const { cache, synthesizer } = cacheIn(folder, undefined, { source: 'https://two.example' });
    await cache.prepare([hello], signal);
    expect(synthesizer.spoken).toEqual(['Hello.']);
  });

  it('synthesises a file older than a month again', async () => {
    const folder = newFolder();
    const clock = new ManualClock();
    await cacheIn(folder, clock).cache.prepare([hello], signal);
    clock.jumpWall(31 * 24 * 3_600_000);
    const { cache, synthesizer } = cacheIn(folder, clock);
    await cache.prepare([hello], signal);
    expect(synthesizer.spoken).toEqual(['Hello.']);
  });

  it('lets the least recently used files go when the folder is full', async () => {
    const folder = newFolder();
    const clock = new ManualClock();
    const small = { mostBytes: 300 };
    const [a, b, c] = [phrase(100, 'a'), phrase(100, 'b'), phrase(100, 'c')];
    for (const request of [a, b, a, c]) {
      clock.jumpWall(60_000);
      // A new cache each time, so that what is there comes from disk.
      await cacheIn(folder, clock, small).cache.prepare([request], signal);
    }
    const spoken: string[] = [];
    for (const request of [a, b, c]) {
      const { cache, synthesizer } = cacheIn(folder, clock);
      await cache.prepare([request], signal);
      spoken.push(...synthesizer.spoken);
    }
    expect(spoken).toEqual([b.text]);
  });

  it('has no sentence in a file name, and key and files only for their owner', async () => {
    const folder = newFolder();
    await cacheIn(folder).cache.prepare([hello], signal);
    const names = readdirSync(folder);
    expect(names.filter((name) => /^[0-9a-f]{40}\.phrase$/u.test(name))).toHaveLength(1);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('removes half-written files at the next write', async () => {
    const folder = newFolder();
    const clock = new ManualClock();
    writeFileSync(join(folder, 'left.phrase.tmp'), 'half');
    const madeMs = statSync(join(folder, 'left.phrase.tmp')).mtimeMs;
    clock.jumpWall(madeMs + 600_001 - clock.wallMs());
    await cacheIn(folder, clock).cache.prepare([hello], signal);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test.each([
    { note: 'a file that was cut off', harm: (path: string) => truncateSync(path, 5) },
    { note: 'a file that is not ours', harm: (path: string) => writeFileSync(path, 'something else altogether') },
  ])('speaks anew instead of playing $note', async ({ harm }) => {
    const folder = newFolder();
    await cacheIn(folder).cache.prepare([hello], signal);
    for (const name of readdirSync(folder)) if (name.endsWith('.phrase')) harm(join(folder, name));
    const { cache, synthesizer } = cacheIn(folder);
    await cache.prepare([hello], signal);
    expect(synthesizer.spoken).toEqual([hello.text]);
  });

  it('works on without a disk', async () => {
    const folder = join(newFolder(), 'a-file');
    writeFileSync(folder, 'no folder');
    const { cache } = cacheIn(folder);
    await cache.prepare([hello], signal);
    expect(cache.cached(hello)).toBeDefined();
  });
});
