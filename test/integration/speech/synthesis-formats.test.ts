import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { SpeechPlatform } from '../../../src/speech/index.ts';
import { startTestPlatform, type TestPlatform } from '../platform/setup.ts';

let test_: TestPlatform;
let client: SpeechPlatform;
const { signal } = new AbortController();
const request = { text: 'alpha bravo', voice: 'Rajesh', language: 'en' };

beforeAll(async () => {
  test_ = await startTestPlatform();
  const { authUrl, ttsUrl, apiKey } = test_.platform;
  client = new SpeechPlatform({ authUrl, ttsUrl, apiKey });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await test_[Symbol.asyncDispose]();
});

describe('synthesis against the embedded platform', () => {
  it('gives the same audio in all three ways of asking', async () => {
    const [message, config, query] = await Promise.all(
      (['message', 'config', 'query'] as const).map((style) =>
        buffer(client.stream({ ...request, format: 'mulaw', style }, signal)),
      ),
    );
    expect(message!.length).toBeGreaterThan(1_600);
    expect(config).toEqual(message);
    expect(query).toEqual(message);
  });

  test.each([8_000, 16_000, 24_000])('streams PCM at %i Hz when asked, whatever the platform makes', async (sampleRateHz) => {
    const line = await buffer(client.stream({ ...request, format: 'mulaw' }, signal));
    const pcm = await buffer(client.stream({ ...request, format: 'pcm', sampleRateHz }, signal));
    expect(Math.abs(pcm.length / 2 / sampleRateHz - line.length / 8_000)).toBeLessThan(0.02);
  });

  it('speaks a long text in batch as one WAV file at the rate that the header tells', async () => {
    const text = Array.from({ length: 90 }, () => 'alpha bravo.').join(' ');
    const spoken = await client.synthesize({ ...request, text, format: 'wav', splitLong: true }, signal);
    const wav = parseWav(await buffer(spoken.audio));
    expect(spoken.sampleRateHz).toBe(wav.rateHz);
    expect(wav.samples[0]!.length / wav.rateHz).toBeGreaterThan(20);
  });
});
