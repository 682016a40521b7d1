import { afterAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { SpeechPlatform } from '../../../src/speech/platform.ts';
import { registeredDate } from '../../../src/speech/asr/speakers.ts';
import { startTestPlatform } from '../platform/setup.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { failureOf } from './support.ts';

const { signal } = new AbortController();
const deps = { clock: systemClock, logger: silentLogger };
const test = await startTestPlatform();
afterAll(() => test[Symbol.asyncDispose]());
const { authUrl, asrUrl, asrAltUrl, medUrl, apiKey } = test.platform;

function wavOf(words: Parameters<typeof sayTones>[0], name = 'clip.wav') {
  return { bytes: wavFile(sayTones(words, 8_000), 8_000), name };
}

describe('the recognition services beside the realtime one', () => {
  it('transcribes by Variant B where its address alone is given', async () => {
    await using client = new SpeechPlatform({ authUrl, asrAltUrl, apiKey }, deps);
    const result = await client.transcribe(wavOf(['alpha', 'bravo']), { language: 'en', verbose: true }, signal);
    expect(result.text).toBe('alpha bravo');
    expect(result.words).toHaveLength(2);
    expect(result.requestId).toMatch(/./u);
  });

  it('hears turns over the socket of Variant B, each word once', async () => {
    await using client = new SpeechPlatform({ authUrl, asrAltUrl, apiKey }, deps);
    const stream = client.recognise({ language: 'en', sampleRateHz: 8_000 }, signal);
    stream.send(sayTones(['alpha', 'bravo'], 8_000));
    expect(await stream.commit()).toMatchObject({ text: 'alpha bravo' });
    expect(await stream.commit()).toMatchObject({ text: '' });
    stream.send(sayTones(['charlie'], 8_000));
    expect(await stream.commit()).toMatchObject({ text: 'charlie' });
    await stream.end();
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.filter(({ type }) => type === 'audio-lost')).toEqual([]);
    expect(events.flatMap((event) => (event.type === 'final' && event.text !== '' ? event.text : []))).toEqual([
      'alpha bravo',
      'charlie',
    ]);
  });

  it('ends the reading of a session, and its commits, when the client is closed', async () => {
    const client = new SpeechPlatform({ authUrl, asrUrl, apiKey }, deps);
    const stream = client.recognise({ language: 'en', sampleRateHz: 8_000 }, signal);
    const read = async (): Promise<void> => {
      for await (const event of stream) if (event.type === 'ready') await client[Symbol.asyncDispose]();
    };
    const commit = failureOf(stream.commit());
    expect((await failureOf(read())).message).toBe('the speech client was closed');
    expect((await commit).message).toBe('the speech client was closed');
  });

  it('refuses to open a socket of Variant B without a key', async () => {
    await using client = new SpeechPlatform({ asrAltUrl, token: 'a-token' }, deps);
    expect(() => client.recognise({ language: 'en', sampleRateHz: 8_000 }, signal)).toThrow('API key');
  });

  it('reads the error envelope of Variant B', async () => {
    await using client = new SpeechPlatform({ authUrl, asrAltUrl, apiKey: 'no-key-of-it' }, deps);
    const error = await failureOf(client.transcribe(wavOf(['alpha']), { language: 'en' }, signal));
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_AUTH', status: 401, platformCode: 'authentication_error' });
  });

  it('names the same languages for both variants', async () => {
    await using primary = new SpeechPlatform({ authUrl, asrUrl, apiKey }, deps);
    await using alt = new SpeechPlatform({ authUrl, asrAltUrl, apiKey }, deps);
    const [one, other] = [await primary.languages(signal), await alt.languages(signal)];
    expect(one.languages).toHaveLength(145);
    expect(one.languages).toContainEqual(expect.objectContaining({ code: 'hi', name: 'Hindi' }));
    expect(one.models).not.toHaveLength(0);
    expect(one.features).toContain('transcription');
    expect(other.languages).toEqual(one.languages);
  });

  it('registers a voice, lists it, knows it again, and deletes it', async () => {
    await using client = new SpeechPlatform({ authUrl, asrUrl, asrAltUrl, apiKey }, deps);
    const clip = wavOf(['alpha', 'bravo', 'charlie', 'alpha', 'bravo', 'charlie']);
    const speaker = { name: 'Asha', project: 'clinic' };
    expect(await client.speakers.register(speaker, clip, signal)).toMatchObject({ speaker: 'Asha' });
    const [profile] = await client.speakers.list('clinic', signal);
    expect(profile).toMatchObject(speaker);
    expect(Math.abs(registeredDate(profile!)!.getTime() - Date.now())).toBeLessThan(60_000);
    expect(await client.speakers.identify(clip, 'clinic', signal)).toMatchObject({ speaker: 'Asha' });
    await client.speakers.delete(speaker, signal);
    expect(await client.speakers.list('clinic', signal)).toEqual([]);
    expect(await client.speakers.identify(clip, 'clinic', signal)).toMatchObject({ speaker: null });
    expect(await failureOf(client.speakers.delete(speaker, signal))).toMatchObject({ status: 404 });
  });

  it('transcribes with the medical model, with and without speakers', async () => {
    await using client = new SpeechPlatform({ authUrl, medUrl, apiKey }, deps);
    const visit = wavOf(['alpha', 'bravo'], 'visit.wav');
    const plain = await client.transcribeMedical(visit, {}, signal);
    expect(plain).toMatchObject({ text: 'alpha bravo', segments: [], filename: 'visit.wav', parts: 1 });
    const diarized = await client.transcribeMedical(visit, { diarize: true }, signal);
    expect(diarized.segments.map(({ text }) => text).join(' ')).toBe('alpha bravo');
    expect(diarized.speakers).not.toHaveLength(0);
  });

  it('answers each commit of a stream with its own turn', async () => {
    await using client = new SpeechPlatform({ authUrl, asrUrl, apiKey }, deps);
    await using stream = client.recognise({ language: 'en', sampleRateHz: 8_000 }, signal);
    for (const words of [['alpha', 'bravo'], ['charlie']] as const) {
      stream.send(sayTones([...words], 8_000));
      expect((await stream.commit()).text).toBe(words.join(' '));
    }
    await stream.end();
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(0)).toBe('ready');
    expect(types.at(-1)).toBe('closed');
  });

  it('contacts nothing but recognition and its token service when made for recognition alone [208]', async () => {
    const origins = new Set<string>();
    const recording: typeof fetch = (input, init) => {
      origins.add(new URL(input instanceof Request ? input.url : input).origin);
      return fetch(input, init);
    };
    await using client = new SpeechPlatform({ authUrl, asrUrl, apiKey }, { ...deps, fetch: recording });
    await client.transcribe(wavOf(['alpha']), { language: 'en' }, signal);
    await client.languages(signal);
    expect(await client.health(signal)).toMatchObject({ recognition: { healthy: true }, synthesis: undefined });
    expect(await client.checkHealth()).toBe(true);
    const isOver = new Promise((resolve) => {
      const session = client.recogniser.open({ language: 'en', sampleRateHz: 8_000 }, ({ type }) => {
        if (type === 'ready') void session.end();
        if (type === 'closed') resolve(true);
      });
    });
    expect(await isOver).toBe(true);
    expect(await failureOf(client.transcribeMedical(wavOf(['alpha']), {}, signal))).toMatchObject({
      code: 'OFFHOOK_SPEECH_REQUEST',
    });
    expect([...origins].sort()).toEqual([authUrl, asrUrl].map((url) => new URL(url).origin).sort());
  });
});
