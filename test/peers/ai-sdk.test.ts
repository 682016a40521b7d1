import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import { APICallError, experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import { wavFile } from './wav-file.ts';

describe('the AI SDK, unmodified', () => {
  let test: TestPlatform;
  let asr: OpenAIProvider;
  let tts: OpenAIProvider;
  const audio = wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000);

  beforeAll(async () => {
    test = await startTestPlatform();
    const apiKey = await test.token();
    asr = createOpenAI({ baseURL: `${test.platform.asrUrl}/v1`, apiKey });
    tts = createOpenAI({ baseURL: `${test.platform.ttsUrl}/v1`, apiKey });
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it('transcribes, which asks for json when nothing else is said [193]', async () => {
    const answer = await transcribe({ model: asr.transcription('zero-indic'), audio, maxRetries: 0 });
    expect(answer.text).toMatch(/alpha bravo/i);
    expect(answer.segments).toEqual([]);
    expect(answer.responses[0]?.headers?.['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('cannot read the documented segments of verbose_json, which lack its own fields [193]', async () => {
    const providerOptions = { openai: { timestampGranularities: ['segment'] } };
    const asked = transcribe({ model: asr.transcription('zero-indic'), audio, providerOptions, maxRetries: 0 });
    await expect(asked).rejects.toThrow('Invalid JSON response');
  });

  it.each([
    { format: 'mp3', mediaType: 'audio/mpeg' },
    { format: 'wav', mediaType: 'audio/wav' },
    { format: 'flac', mediaType: 'audio/flac' },
  ])('speaks in $format [193]', async ({ format, mediaType }) => {
    const model = tts.speech('zero-indic');
    const answer = await generateSpeech({ model, text: 'Hello', voice: 'Rajesh', outputFormat: format, maxRetries: 0 });
    expect(answer.audio.mediaType).toBe(mediaType);
    expect(answer.audio.uint8Array.length).toBeGreaterThan(100);
  });

  it('gets the status of a refusal [193]', async () => {
    const asked = generateSpeech({ model: tts.speech('zero-indic'), text: 'Hello', voice: 'Nobody', maxRetries: 0 });
    const error: unknown = await asked.catch((reason: unknown) => reason);
    expect(APICallError.isInstance(error) && error.statusCode).toBe(422);
  });
});
