import { describe, expect, it, test } from 'vitest';
import { Secret } from '../../../../../src/config/secrets.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { openai } from '../../../../../src/speech/vendors/openai/vendor.ts';
import type { OpenVendor } from '../../../../../src/speech/vendors/vendor.ts';
import { FakeFetch } from '../../fake-platform.ts';

type Given = Record<string, unknown>;
const configOf = (given: Given, keys: Record<string, string> = {}) => ({
  settings: openai.settings.parse(given),
  secrets: Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, [new Secret(key)]])),
});
const open = (given: Given, keys: Record<string, string> = {}, fetcher?: typeof fetch): OpenVendor | undefined =>
  openai.open(configOf(given, keys), { clock: systemClock, logger: silentLogger, fetch: fetcher });

describe('what is configured', () => {
  it('is nothing without a key or a server', () => {
    expect(open({})).toBeUndefined();
    expect(open({ baseUrl: 'http://localhost:8000/v1' })).toBeUndefined();
  });

  it('is both services of OpenAI with a key: the transcription socket and gpt-4o-mini-tts', async () => {
    await using vendor = open({}, { apiKey: 'sk-1' });
    expect(vendor?.recogniser?.capabilities).toMatchObject({ partials: true, endMarks: true, mostHints: 50 });
    expect(vendor?.synthesizer?.capabilities).toMatchObject({ defaultVoice: 'marin', streams: true, longestText: 4096 });
    expect(vendor?.synthesizer?.capabilities.voices).toContain('coral');
  });

  it('is what a model is named for at another server, without a key', async () => {
    await using heard = open({ baseUrl: 'http://localhost:8000', recognitionModel: 'whisper', recognitionSessions: 4 });
    expect(heard?.recogniser?.capabilities).toMatchObject({ partials: false, sessionsPerKey: 4, detectsLanguage: false });
    expect(heard?.synthesizer).toBeUndefined();
    await using spoken = open({
      baseUrl: 'http://localhost:8880/v1',
      synthesisModel: 'kokoro',
      voice: 'af_heart',
      synthesisRequests: 2,
    });
    expect(spoken?.recogniser).toBeUndefined();
    expect(spoken?.synthesizer?.capabilities).toMatchObject({ voices: undefined, defaultVoice: 'af_heart', requestsPerKey: 2 });
  });
});

it('gives the key of one server to no other', async () => {
  const fake = new FakeFetch(() => Response.json({}, { status: 400 }));
  const given = { synthesisUrl: 'http://tts.local:8880/v1', synthesisModel: 'kokoro' };
  await using vendor = open(given, { apiKey: 'sk-of-openai' }, fake.fetch);
  const request = { text: 'Hello.', voice: 'af_heart', language: 'en' };
  const speak = async (): Promise<void> => {
    for await (const _ of vendor?.synthesizer?.speak(request, new AbortController().signal) ?? []) break;
  };
  await expect(speak()).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
  expect(fake.asked[0]?.url.href).toBe('http://tts.local:8880/v1/audio/speech');
  expect([...(fake.asked[0]?.headers.values() ?? [])].join(' ')).not.toContain('sk-of-openai');
});

describe('problems between settings', () => {
  const problems = (given: Given, keys: Record<string, string> = {}): string[] =>
    (openai.problems?.(configOf(given, keys)) ?? []).map(({ setting, message }) => `${setting} ${message}`);

  it.each([
    ['OpenAI with a key', {}, { apiKey: 'k' }],
    ['a server on this machine', { baseUrl: 'http://127.0.0.1:8000/v1', recognitionModel: 'm' }, {}],
    ['a server on this network, by number', { baseUrl: 'http://10.1.2.3:8000/v1', recognitionModel: 'm' }, {}],
    ['a container beside this one', { baseUrl: 'http://speaches:8000/v1', recognitionModel: 'm' }, {}],
    ['a server elsewhere with a key', { baseUrl: 'https://speech.example.com/v1', synthesisModel: 'm' }, { apiKey: 'k' }],
    ['an address that only a language model uses', { baseUrl: 'https://llm.example.com/v1' }, {}],
  ])('has none for %s', (_note, given, keys) => {
    expect(problems(given, keys)).toEqual([]);
  });

  test.each([
    [
      { baseUrl: 'https://speech.example.com/v1', recognitionModel: 'm' },
      {},
      /^apiKey is needed at https:\/\/speech\.example\.com/,
    ],
    [
      { baseUrl: 'http://speech.example.com/v1', recognitionModel: 'm' },
      { apiKey: 'k' },
      /^baseUrl would send the key unencrypted/,
    ],
    [{ synthesisUrl: 'http://tts.local/v1' }, { apiKey: 'k' }, /^synthesisModel is needed/],
    [
      { synthesisUrl: 'https://api.openai.com/v1', baseUrl: 'http://stt.local/v1', recognitionModel: 'm' },
      {},
      /^synthesisApiKey is needed/,
    ],
  ])('names what is wrong with %j', (given, keys, message) => {
    expect(problems(given, keys as Record<string, string>)).toEqual([expect.stringMatching(message) as string]);
  });
});
