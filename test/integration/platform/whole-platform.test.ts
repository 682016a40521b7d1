import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resample } from '../../../src/audio/resample.ts';
import { parseWav, wavFile } from '../../../src/audio/wav.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createEngines } from '../../../src/platform/engines/engines.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';

describe('the platform over its own engines', () => {
  let test: TestPlatform;
  let started: Awaited<ReturnType<typeof createEngines>> | undefined;
  beforeAll(async () => {
    const engines = await createEngines({
      // Shared with the engines' own tests: learning takes a while, and is kept under a hash of what it depends on.
      cacheFolder: join(tmpdir(), 'offhook-recogniser-models'),
      vocabularyFolder: fileURLToPath(new URL('../../../config/platform', import.meta.url)),
      clock: systemClock,
    });
    started = engines;
    test = await startTestPlatform({ engines });
  });
  afterAll(async () => {
    await test?.[Symbol.asyncDispose]();
    await started?.recognition[Symbol.asyncDispose]();
    await started?.synthesis[Symbol.asyncDispose]();
  });

  const speak = async (input: string, more: object = {}): Promise<Int16Array> => {
    const response = await test.post(`${test.platform.ttsUrl}/v1/audio/speech`, {
      model: 'zero-indic',
      voice: 'Nisha',
      language: 'en',
      response_format: 'wav',
      input,
      ...more,
    });
    expect(response.status).toBe(200);
    return parseWav(new Uint8Array(await response.arrayBuffer())).samples[0]!;
  };

  it('names 46 voices, the default among them [148]', async () => {
    const asr = await (await fetch(`${test.platform.asrUrl}/health`)).json();
    const tts = (await (await fetch(`${test.platform.ttsUrl}/health`)).json()) as {
      status: string;
      voices: string[];
      default_voice: string;
    };
    expect(asr).toEqual({ ok: true });
    expect([tts.status, new Set(tts.voices).size, tts.voices.includes(tts.default_voice)]).toEqual(['ok', 46, true]);
  });

  it('scales the length of real speech inversely with speed, within 5 % [162]', async () => {
    const input = 'Your appointment is on Tuesday at half past ten. Is that right?';
    const seconds = async (speed: number) => (await speak(input, { speed, trim_silence: true })).length / 24_000;
    const plain = await seconds(1);
    for (const speed of [0.25, 0.5, 2, 4]) expect(Math.abs((await seconds(speed)) * speed - plain) / plain).toBeLessThan(0.05);
  });

  it.each(['Tuesday at half past ten', 'I need an appointment'])(
    'understands what it says itself, over both sockets: %s',
    async (phrase) => {
      await using tts = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime?token=${await test.token()}`);
      tts.json({ model: 'zero-indic', voice: 'Nisha', language: 'en', input: phrase });
      await tts.until(() => tts.of('completion').length === 1);
      const bytes = Buffer.concat(tts.audio.map((frame) => frame.bytes));
      const said = resample(
        Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index)),
        24_000,
        8000,
      );

      await using asr = await TestSocket.ready(test);
      asr.pcm(new Int16Array(4000));
      for (let at = 0; at < said.length; at += 160) asr.pcm(said.slice(at, at + 160));
      asr.pcm(new Int16Array(4000));
      asr.text('commit');
      await asr.until(() => asr.of('final').some((event) => event['end_of_utterance'] === true));
      expect(
        asr
          .of('final')
          .map(({ text }) => text)
          .join(' ')
          .trim(),
      ).toBe(phrase);
    },
  );

  it('understands the same in a recording, in its place', async () => {
    const said = await speak('Friday at nine');
    const pcm = Int16Array.from([...new Int16Array(48_000), ...said, ...new Int16Array(24_000)]);
    const form = new FormData();
    form.append('file', new Blob([Buffer.from(wavFile(pcm, 24_000))]), 'a.wav');
    form.append('response_format', 'verbose_json');
    form.append('language_code', 'en');
    const response = await test.post(`${test.platform.asrUrl}/v1/audio/transcriptions`, form);
    const body = (await response.json()) as { text: string; segments: { start: number; end: number }[]; audio_duration: number };
    expect(body.text).toBe('Friday at nine');
    expect(body.segments[0]!.start).toBeGreaterThan(1.8);
    expect(body.segments.at(-1)!.end).toBeLessThanOrEqual(body.audio_duration);
  });

  it("hears a boosted phrase in its own voices, also a woman's, in a recording and over the socket", async () => {
    for (const voice of ['Pooja', 'Varun']) {
      const said = resample(await speak('appointment confirmed', { voice }), 24_000, 8000);
      const boost = { boost_phrases: 'appointment confirmed' };
      const form = new FormData();
      form.append('file', new Blob([Buffer.from(wavFile(said, 8000))]), 'a.wav');
      form.append('language_code', 'en');
      form.append('boost_phrases', boost.boost_phrases);
      const headers = { authorization: `Bearer ${await test.token()}` };
      const response = await fetch(`${test.platform.asrUrl}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
      expect(await response.json()).toEqual({ text: 'appointment confirmed' });

      await using asr = await TestSocket.ready(test, boost);
      // Sent at once, as a file is, with so much silence behind that the engine would end the turn itself.
      asr.pcm(Int16Array.from([...new Int16Array(4000), ...said, ...new Int16Array(24_000)]));
      asr.text('commit');
      await asr.until(() => asr.of('final').some((event) => event['end_of_utterance'] === true));
      expect(
        asr
          .of('final')
          .map(({ text }) => text)
          .filter((text) => text !== ''),
      ).toEqual(['appointment confirmed']);
    }
  });

  it('returns empty text for silence and for an unknown phrase', async () => {
    const unknown = resample(await speak('bring seven purple elephants into the garage'), 24_000, 8000);
    for (const pcm of [new Int16Array(16_000), unknown]) {
      await using asr = await TestSocket.ready(test);
      asr.pcm(pcm);
      asr.text('commit');
      await asr.until(() => asr.of('final').some((event) => event['end_of_utterance'] === true));
      expect(
        asr
          .of('final')
          .map(({ text }) => text)
          .join(''),
      ).toBe('');
    }
  });
});
