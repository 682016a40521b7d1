import OpenAI, { AuthenticationError, BadRequestError, RateLimitError, toFile, UnprocessableEntityError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import { wavFile } from './wav-file.ts';

describe('the openai package, unmodified', () => {
  let test: TestPlatform;
  let asr: OpenAI;
  let tts: OpenAI;

  beforeAll(async () => {
    test = await startTestPlatform();
    const apiKey = await test.token();
    asr = new OpenAI({ baseURL: `${test.platform.asrUrl}/v1`, apiKey, maxRetries: 0 });
    tts = new OpenAI({ baseURL: `${test.platform.ttsUrl}/v1`, apiKey, maxRetries: 0 });
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const upload = (): Promise<File> => toFile(wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000), 'words.wav');

  it('transcribes to json, and shows the request id [192]', async () => {
    const answer = await asr.audio.transcriptions.create({ file: await upload(), model: 'zero-indic', response_format: 'json' });
    expect(answer.text).toMatch(/alpha bravo/i);
    expect((answer as { _request_id?: string })._request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('transcribes to verbose_json with segments [192]', async () => {
    const file = await upload();
    const answer = await asr.audio.transcriptions.create({
      file,
      model: 'zero-indic',
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
      temperature: 0,
    });
    expect(answer.segments?.map((segment) => segment.text).join(' ')).toMatch(/alpha bravo/i);
  });

  it.each([
    { format: 'mp3', type: 'audio/mpeg' },
    { format: 'wav', type: 'audio/wav' },
    { format: 'flac', type: 'audio/flac' },
    { format: 'pcm', type: 'audio/' },
  ] as const)('speaks in $format, read as a stream [192]', async ({ format, type }) => {
    const answer = await tts.audio.speech.create({
      model: 'zero-indic',
      voice: 'Rajesh',
      input: 'Hello',
      response_format: format,
    });
    expect(answer.headers.get('content-type')).toContain(type);
    let bytes = 0;
    for await (const part of answer.body ?? []) bytes += (part as Uint8Array).length;
    expect(bytes).toBeGreaterThan(100);
  });

  it.each(['opus', 'aac'] as const)('gets its BadRequestError for %s [192]', async (format) => {
    const asked = tts.audio.speech.create({ model: 'zero-indic', voice: 'Rajesh', input: 'Hello', response_format: format });
    await expect(asked).rejects.toBeInstanceOf(BadRequestError);
  });

  it('gets its classes for 401 and 422 [192]', async () => {
    const stranger = tts.withOptions({ apiKey: 'not-a-token' });
    const speech = { model: 'zero-indic', input: 'Hello', voice: 'Rajesh' };
    await expect(stranger.audio.speech.create(speech)).rejects.toBeInstanceOf(AuthenticationError);
    await expect(tts.audio.speech.create({ ...speech, voice: 'Nobody' })).rejects.toBeInstanceOf(UnprocessableEntityError);
  });

  it('shows what is wrong in the message of its errors, in compat mode', async () => {
    await using compat = await startTestPlatform({ compat: true });
    const apiKey = await compat.token();
    const speech = new OpenAI({ baseURL: `${compat.platform.ttsUrl}/v1`, apiKey, maxRetries: 0 }).audio.speech;
    const asked = { model: 'tts-1', input: 'Hello', voice: 'Nobody' };
    await expect(speech.create(asked)).rejects.toThrow('422 voice: unknown voice');
    const recognition = new OpenAI({ baseURL: `${compat.platform.asrUrl}/v1`, apiKey: compat.platform.apiKey, maxRetries: 0 });
    const refused = recognition.audio.transcriptions.create({ file: await upload(), model: 'whisper-1' });
    await expect(refused).rejects.toThrow('401 This is no access token');
  });

  it('is told that nothing is answered as events, in place of an empty stream', async () => {
    const events = asr.audio.transcriptions.create({ file: await upload(), model: 'zero-indic', stream: true });
    await expect(events).rejects.toBeInstanceOf(UnprocessableEntityError);
    const speech = { model: 'zero-indic', input: 'Hello', voice: 'Rajesh', stream_format: 'sse' } as const;
    await expect(tts.audio.speech.create(speech)).rejects.toBeInstanceOf(BadRequestError);
  });

  it('gets its class for 429, and comes back after Retry-After [192]', async () => {
    await using full = await startTestPlatform({ limits: { mintsPerMinute: 1, concurrentPerKey: 0 } });
    const apiKey = await full.token();
    const statuses: number[] = [];
    const client = new OpenAI({
      baseURL: `${full.platform.ttsUrl}/v1`,
      apiKey,
      maxRetries: 1,
      fetch: async (_url, init) => {
        // The second try goes to a platform with room, as if a slot had been given back meanwhile.
        const target =
          statuses.length === 0 ? `${full.platform.ttsUrl}/v1/audio/speech` : `${test.platform.ttsUrl}/v1/audio/speech`;
        const headers = new Headers(init?.headers);
        if (statuses.length > 0) headers.set('authorization', `Bearer ${await test.token()}`);
        const response = await fetch(target, { ...init, headers });
        statuses.push(response.status);
        if (response.status === 429) expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
        return response;
      },
    });
    const speech = { model: 'zero-indic', input: 'Hello', voice: 'Rajesh' };
    await (await client.audio.speech.create(speech)).arrayBuffer();
    expect(statuses).toEqual([429, 200]);
    const single = new OpenAI({ baseURL: `${full.platform.ttsUrl}/v1`, apiKey, maxRetries: 0 });
    await expect(single.audio.speech.create(speech)).rejects.toBeInstanceOf(RateLimitError);
  });
});
