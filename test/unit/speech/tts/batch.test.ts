import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseWav, wavFile } from '../../../../src/audio/wav.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { FixedToken } from '../../../../src/speech/client/credentials.ts';
import { SpeechHttp } from '../../../../src/speech/client/requests.ts';
import { Slots } from '../../../../src/speech/client/slots.ts';
import { type BatchSpeechOptions, type SpokenAudio, synthesize } from '../../../../src/speech/tts/batch.ts';
import { type Answer, type Asked, failureOf, FakeFetch, pass, settle } from '../fake-platform.ts';

const hello: BatchSpeechOptions = { text: 'Hello.', voice: 'Varun' };

function speaking(answer: (asked: Asked) => Answer) {
  const fake = new FakeFetch(answer);
  const clock = new ManualClock();
  const slots = new Slots(16);
  const http = new SpeechHttp({
    tokens: new FixedToken('a-token'),
    clock,
    fetch: fake.fetch,
    slots,
    timeoutMs: 120_000,
    random: () => 0,
  });
  const speak = (options: BatchSpeechOptions, signal = new AbortController().signal): Promise<SpokenAudio> =>
    synthesize(http, 'https://tts.example', options, signal);
  const sent = (): Record<string, unknown>[] => fake.asked.map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>);
  return { speak, sent, fake, clock, slots };
}

const audio = (bytes: Uint8Array, rateHz = 24_000): Response =>
  new Response(Uint8Array.from(bytes), {
    headers: { 'content-type': 'audio/x', 'x-sample-rate': String(rateHz), 'x-request-id': 'r-1' },
  });

async function bytesOf({ audio: parts }: SpokenAudio): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

function unfinishedWav(): Uint8Array {
  const file = wavFile(new Int16Array(9), 8_000);
  new DataView(file.buffer).setUint32(4, 0xffff_ffff, true);
  return file;
}

/** Bytes that are no letters, and the same for the same text. */
const asSamples = (text: string): Buffer => Buffer.from(Uint8Array.from(Buffer.from(text), (byte) => byte | 0x80));

const MP3 = Uint8Array.of(0xff, 0xfb, 0x90);

const sentences = (count: number): string => Array.from({ length: count }, (_, index) => `This is sentence ${index}.`).join(' ');

describe('batch synthesis', () => {
  it('sends every field under its documented name, and the format always', async () => {
    const { speak, sent, fake } = speaking(({ body }) => audio(String(body).includes('ogg_opus') ? Buffer.from('OggS') : MP3));
    await bytesOf(await speak(hello));
    const wav = wavFile(new Int16Array(16_000), 8_000);
    await bytesOf(
      await speak({
        ...hello,
        format: 'ogg_opus',
        speed: 1.5,
        language: 'hi',
        trimSilence: true,
        background: 'cafe',
        backgroundVolume: 0.3,
        reference: { audio: wav, text: 'as I speak' },
        latex: true,
        quality: 'high',
      }),
    );
    await bytesOf(await speak({ ...hello, background: { audio: Uint8Array.of(1, 2, 3) } }));
    const [least, most, own] = sent();
    expect(least).toEqual({ model: 'zero-indic', input: 'Hello.', voice: 'Varun', response_format: 'mp3' });
    expect(most).toEqual({
      model: 'zero-indic',
      input: 'Hello.',
      voice: 'Varun',
      response_format: 'ogg_opus',
      speed: 1.5,
      language: 'hi',
      trim_silence: true,
      background_audio: 'cafe',
      background_volume: 0.3,
      reference_wav: Buffer.from(wav).toString('base64'),
      reference_text: 'as I speak',
      latex: true,
      quality: 'high',
    });
    expect(own).toMatchObject({ background_audio: 'AQID' });
    expect(fake.asked[0]!.url.href).toBe('https://tts.example/v1/audio/speech');
    expect(fake.asked[0]!.headers.get('content-type')).toBe('application/json');
  });

  test.each<{ note: string; options: Partial<BatchSpeechOptions> }>([
    { note: 'no text', options: { text: '' } },
    { note: 'a text of 10,001 characters', options: { text: '😀'.repeat(10_001) } },
    { note: 'a blank voice', options: { voice: ' ' } },
    { note: 'a speed of 0.24', options: { speed: 0.24 } },
    { note: 'a speed of 4.01', options: { speed: 4.01 } },
    { note: 'a speed that is no number', options: { speed: Number.NaN } },
    { note: 'a volume below 0', options: { backgroundVolume: -0.1 } },
    { note: 'a volume above 1', options: { backgroundVolume: 1.1 } },
    { note: 'an empty background', options: { background: { audio: new Uint8Array() } } },
    { note: 'a reference of no known format', options: { reference: { audio: Uint8Array.of(1, 2, 3, 4) } } },
    { note: 'a reference of half a second', options: { reference: { audio: wavFile(new Int16Array(4_000), 8_000) } } },
    { note: 'a reference of seven seconds', options: { reference: { audio: wavFile(new Int16Array(56_000), 8_000) } } },
    {
      note: 'a transcript of 501 characters',
      options: { reference: { audio: Buffer.from('OggS...'), text: 'x'.repeat(501) } },
    },
    { note: 'a long text as joined FLAC', options: { text: sentences(60), format: 'flac', splitLong: true } },
    { note: 'a long text as joined OGG', options: { text: sentences(60), format: 'ogg_opus', splitLong: true } },
  ])('refuses $note before anything is sent [171] [172]', async ({ options }) => {
    const { speak, fake, slots } = speaking(() => audio(Uint8Array.of(1)));
    expect(await failureOf(speak({ ...hello, ...options }))).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(fake.asked).toHaveLength(0);
    expect(slots.free).toBe(16);
  });

  it('reads rate, type and request id from the headers, without a default [173]', async () => {
    const { speak } = speaking(({ body }) =>
      String(body).includes('bare') ? new Response(Uint8Array.of(1, 2)) : audio(MP3, 22_050),
    );
    const told = await speak(hello);
    expect(told).toMatchObject({ sampleRateHz: 22_050, contentType: 'audio/x', requestId: 'r-1', format: 'mp3' });
    const bare = await speak({ ...hello, text: 'bare', format: 'pcm' });
    expect(bare.sampleRateHz).toBeUndefined();
    for (const open of [told, bare]) await bytesOf(open);
  });

  it('gives the audio as it arrives, and its slot back at the end', async () => {
    let push: (bytes: Uint8Array | undefined) => void = () => undefined;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        push = (bytes) => (bytes === undefined ? controller.close() : controller.enqueue(bytes));
      },
    });
    const { speak, slots, clock } = speaking(() => new Response(stream));
    const reading = (await speak({ ...hello, format: 'mulaw' })).audio[Symbol.asyncIterator]();
    push(Uint8Array.of(1, 2));
    expect((await reading.next()).value).toEqual(Buffer.of(1, 2));
    expect(slots.free).toBe(15);
    push(Uint8Array.of(3));
    expect((await reading.next()).value).toEqual(Uint8Array.of(3));
    push(undefined);
    expect((await reading.next()).done).toBe(true);
    expect(slots.free).toBe(16);
    expect(clock.pendingTimers).toBe(0);
  });

  test.each<{ note: string; stop: (spoken: SpokenAudio, abort: AbortController) => unknown }>([
    { note: 'the loop is left', stop: ({ audio: parts }) => takeOne(parts) },
    { note: 'it is closed unread', stop: (spoken) => spoken.close() },
    { note: 'it is aborted', stop: (_spoken, abort) => abort.abort(new Error('hung up')) },
  ])('breaks the transfer off when $note, so that nothing more is paid for', async ({ stop }) => {
    let isOver = false;
    const { speak, slots, clock } = speaking(({ signal }) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) =>
          signal?.addEventListener('abort', () => {
            isOver = true;
            controller.error(signal.reason);
          }),
        pull: (controller) => controller.enqueue(new Uint8Array(4)),
        cancel: () => void (isOver = true),
      });
      return new Response(body);
    });
    const abort = new AbortController();
    const spoken = await speak({ ...hello, format: 'mulaw' }, abort.signal);
    await stop(spoken, abort);
    await settle();
    expect(isOver).toBe(true);
    expect(slots.free).toBe(16);
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails with the request id when the connection breaks off in the middle', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Uint8Array.of(1)),
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
    const { speak, fake } = speaking(() => new Response(body, { headers: { 'x-request-id': 'r-2' } }));
    const spoken = await speak({ ...hello, format: 'mulaw' });
    expect(await failureOf(bytesOf(spoken))).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE', requestId: 'r-2' });
    expect(fake.asked).toHaveLength(1);
  });

  test.each<{ note: string; format: BatchSpeechOptions['format']; body: Uint8Array; isWhole: boolean }>([
    { note: 'nothing', format: 'mp3', body: new Uint8Array(), isWhole: false },
    { note: 'PCM that ends in half a sample', format: 'pcm', body: new Uint8Array(7), isWhole: false },
    { note: 'whole PCM', format: 'pcm', body: new Uint8Array(8), isWhole: true },
    { note: 'half a WAV file', format: 'wav', body: wavFile(new Int16Array(9), 8_000).subarray(0, 54), isWhole: false },
    { note: 'a whole WAV file', format: 'wav', body: wavFile(new Int16Array(9), 8_000), isWhole: true },
    { note: 'a WAV file that does not say its length', format: 'wav', body: unfinishedWav(), isWhole: true },
  ])('calls $note whole: $isWhole', async ({ format, body, isWhole }) => {
    const { speak } = speaking(() => audio(body));
    const heard = speak({ ...hello, ...(format === undefined ? {} : { format }) }).then(bytesOf);
    if (isWhole) expect(await heard).toEqual(Buffer.from(body));
    else expect(await failureOf(heard)).toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL', requestId: 'r-1' });
  });

  test.each([
    { characters: 500, limitMs: 120_000 },
    { characters: 501, limitMs: 330_000 },
  ])('waits $limitMs ms for $characters characters [174]', async ({ characters, limitMs }) => {
    const { speak, clock, fake } = speaking(() => new Promise<Response>(() => undefined));
    const leaving = new AbortController();
    const failure = failureOf(speak({ ...hello, text: 'x'.repeat(characters) }, leaving.signal));
    await pass(clock, limitMs - 1);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    await pass(clock, 1_000);
    expect(fake.asked).toHaveLength(2);
    leaving.abort(new Error('hung up'));
    expect((await failure).message).toBe('hung up');
    expect(clock.pendingTimers).toBe(0);
  });

  it('cuts a long text when asked, speaks a few pieces ahead and joins them in order [172] [175]', async () => {
    let running = 0;
    let most = 0;
    const { speak, sent, slots } = speaking(async ({ body }) => {
      const { input } = JSON.parse(String(body)) as { input: string };
      running += 1;
      most = Math.max(most, running);
      // Later pieces answer earlier.
      for (let turn = 0; turn < 2_000 / input.length; turn += 1) await settle();
      running -= 1;
      return audio(asSamples(input), 8_000);
    });
    const text = sentences(120);
    const done: string[] = [];
    const spoken = await speak({
      ...hello,
      text,
      format: 'mulaw',
      splitLong: true,
      onPiece: (part, all) => done.push(`${part}/${all}`),
    });
    expect(await bytesOf(spoken)).toEqual(asSamples(text));
    const inputs = sent().map(({ input }) => String(input));
    expect(inputs.every((input) => Array.from(input).length < 500)).toBe(true);
    expect(most).toBe(3);
    expect(done).toEqual(inputs.map((_, index) => `${index + 1}/${inputs.length}`));
    expect(slots.free).toBe(16);
  });

  it('stops the pieces made ahead when the loop is left', async () => {
    const { speak, slots, clock } = speaking(({ body }) =>
      String(body).includes('sentence 0.') ? audio(Uint8Array.of(1, 2)) : new Promise<Response>(() => undefined),
    );
    const spoken = await speak({ ...hello, text: sentences(120), format: 'pcm', splitLong: true });
    await takeOne(spoken.audio);
    await settle();
    expect(slots.free).toBe(16);
    expect(clock.pendingTimers).toBe(0);
  });

  it('joins parts of WAV to one valid file with all their samples [172]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 2, maxLength: 5 }), async (lengths) => {
        let next = 0;
        const parts = lengths.map((length, part) => Int16Array.from({ length }, (_, index) => part * 1_000 + index));
        const { speak } = speaking(() => audio(wavFile(parts[next++ % parts.length]!, 16_000), 16_000));
        const text = Array.from({ length: lengths.length }, (_, index) => `${'word '.repeat(95)}end ${index}.`).join(' ');
        const spoken = await speak({ ...hello, text, format: 'wav', splitLong: true });
        const joined = parseWav(await bytesOf(spoken));
        expect(next).toBe(lengths.length);
        expect(joined.rateHz).toBe(16_000);
        expect([...joined.samples[0]!]).toEqual(parts.flatMap((part) => [...part]));
      }),
      { numRuns: 15 },
    );
  });

  it('joins no parts of different rates', async () => {
    let rateHz = 8_000;
    const { speak, slots } = speaking(() => audio(Uint8Array.of(1, 2), (rateHz += 1_000)));
    const spoken = await speak({ ...hello, text: sentences(60), format: 'pcm', splitLong: true });
    expect(await failureOf(bytesOf(spoken))).toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL' });
    await settle();
    expect(slots.free).toBe(16);
  });

  it('does not cut a text that is short, or that it was not asked to cut', async () => {
    const { speak, sent } = speaking(() => audio(MP3));
    for (const options of [{ text: 'One. Two.', splitLong: true }, { text: sentences(60) }])
      await bytesOf(await speak({ ...hello, ...options }));
    expect(sent()).toHaveLength(2);
  });
});

async function takeOne(parts: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of parts) {
    expect(part.length).toBeGreaterThan(0);
    return;
  }
}
