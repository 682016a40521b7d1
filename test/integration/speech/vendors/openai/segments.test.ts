import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, describe, it, test } from 'vitest';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import { startOpenAi } from '../../../../support/vendors/openai.ts';
import { scriptedEngines } from '../../../../support/vendors/scripted-engines.ts';
import { hiss, listen, of, RATE_HZ, saying, voice } from '../listening.ts';
import { KEY, startWorld } from './world.ts';

/** With overtones over the whole band, as those of a voice. */
const vowel = (ms: number, hz: number): Int16Array => {
  const tones = Array.from({ length: 16 }, (_, overtone) => sine(hz * (1 + overtone), ms, RATE_HZ));
  return Int16Array.from(tones[0] ?? [], (_, at) => tones.reduce((sum, tone) => sum + (tone[at] ?? 0), 0) / 20);
};

describe('recognition in segments', () => {
  it('uploads what was said as one WAV file at a commit, and tells its text as the end of the utterance', async () => {
    await using world = await startWorld({ texts: ['book a table'] });
    const { events, say } = listen(world.vendor);
    await say();
    expect(events).toEqual([
      { type: 'ready' },
      { type: 'final', seg: 0, text: 'book a table', endOfUtterance: true, language: undefined },
    ]);
    const [request] = world.server.requests;
    expect(request?.path).toBe('/v1/audio/transcriptions');
    expect(request?.fields).toEqual({ model: 'Systran/faster-whisper-small', response_format: 'json', language: 'en' });
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.audio?.rateHz).toBe(RATE_HZ);
    // The voice with its margins: neither all of the silence before nor after.
    expect(((request?.audio?.pcm.length ?? 0) / RATE_HZ) * 1000).toBeGreaterThan(1_300);
    expect(((request?.audio?.pcm.length ?? 0) / RATE_HZ) * 1000).toBeLessThan(1_600);
  });

  it('answers a commit after silence with an empty final and no request', async () => {
    await using world = await startWorld();
    const { session, events, until } = listen(world.vendor);
    session.send(hiss(3_000));
    session.commit();
    session.commit();
    await until('final', 2);
    expect(of(events, 'final').map(({ seg, text }) => `${seg} ${text}`)).toEqual(['0 ', '1 ']);
    expect(world.server.requests).toEqual([]);
  });

  it('tells finals in the order of their turns, whichever answer comes first', async () => {
    await using world = await startWorld({
      texts: ['two', 'one'],
      fault: (_request, index) => (index === 0 ? { status: 503 } : undefined),
    });
    const { session, events, say } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await say(2);
    expect(of(events, 'final').map(({ seg, text }) => `${seg} ${text}`)).toEqual(['0 one', '1 two']);
  });

  test.each([
    ['Systran/faster-whisper-small', { prompt: 'Asha Rao, Kolkata' }],
    ['gpt-transcribe', { 'keywords[]': ['Asha Rao', 'Kolkata'] }],
    ['gpt-4o-transcribe-diarize', {}],
  ])('passes the phrases to %s as it takes them', async (recognitionModel, fields) => {
    await using world = await startWorld({}, { recognitionModel });
    const { say } = listen(world.vendor, { boostPhrases: ['Asha Rao', ' ', 'Kolkata'] });
    await say();
    expect(world.server.requests[0]?.fields).toEqual({
      model: recognitionModel,
      response_format: 'json',
      language: 'en',
      ...fields,
    });
  });

  it('leaves the language to the model for auto, and tells the one that it heard', async () => {
    await using world = await startWorld({ namesLanguage: true });
    const { events, say } = listen(world.vendor, { language: 'auto' });
    await say();
    expect(world.server.requests[0]?.fields).not.toHaveProperty('language');
    expect(of(events, 'final')[0]?.language).toBe('en');
  });

  it('takes any sample rate', async () => {
    await using world = await startWorld({ texts: ['hello'] });
    const { session, until } = listen(world.vendor, { sampleRateHz: 16_000 });
    session.send(saying(16_000));
    session.commit();
    await until('final');
    expect(world.server.requests[0]?.audio?.rateHz).toBe(16_000);
  });

  it('recognises what was said so far again for interim texts, where that is asked for', async () => {
    await using world = await startWorld({ texts: ['book', 'book a table'] }, { partialsEveryMs: 10_000 });
    expect(world.vendor.recogniser?.capabilities.partials).toBe(true);
    const { session, events, until } = listen(world.vendor);
    session.send(joinSamples([hiss(600), voice(700)]));
    await until('partial');
    session.send(joinSamples([voice(200), hiss(400)]));
    session.commit();
    await until('final');
    expect(events.slice(1)).toEqual([
      { type: 'partial', seg: 0, text: 'book' },
      { type: 'final', seg: 0, text: 'book a table', endOfUtterance: true, language: undefined },
    ]);
  });

  it('cuts a turn that is longer than Whisper hears at a pause, and loses nothing of it', async () => {
    await using world = await startWorld({ texts: ['the first part', 'the rest'] });
    const { session, events, until } = listen(world.vendor);
    session.send(hiss(600));
    for (let second = 0; second < 25; second += 1) session.send(joinSamples([vowel(600, 110 + 9 * second), hiss(400)]));
    await until('final');
    session.send(joinSamples([hiss(500), voice(1_000), hiss(300)]));
    session.commit();
    await until('final', 2);
    expect(of(events, 'final').map(({ text, endOfUtterance }) => `${text} ${endOfUtterance}`)).toEqual([
      'the first part false',
      'the rest true',
    ]);
    const lengths = world.server.requests.map(({ audio }) => Math.round((audio?.pcm.length ?? 0) / RATE_HZ));
    expect(lengths).toEqual([24, 3]);
  });

  it.each([
    ['an error of the server', { status: 503 }],
    ['a limit, after the time that the server asked for', { status: 429, headers: { 'retry-after': '1' } }],
    ['a connection that is reset', 'reset'],
  ] as const)('sends the turn again after %s', async (_fault, fault) => {
    await using world = await startWorld({ texts: ['hello'], fault: (_request, index) => (index === 0 ? fault : undefined) });
    const { events, say } = listen(world.vendor);
    await say();
    expect(events.map(({ type }) => type)).toEqual(['ready', 'reconnecting', 'final']);
    expect(world.server.requests).toHaveLength(2);
    expect(world.server.requests[1]?.audio?.pcm).toEqual(world.server.requests[0]?.audio?.pcm);
  });

  it('tells the lost audio and goes on when the server fails for one turn', async () => {
    await using world = await startWorld({ fault: (_request, index) => (index < 3 ? { status: 500 } : undefined) });
    const { events, say } = listen(world.vendor);
    await say();
    expect(of(events, 'audio-lost')).toEqual([
      { type: 'audio-lost', fromMs: 0, lostMs: 1_800, reason: expect.any(String) as string },
    ]);
    await say(2);
    expect(of(events, 'final').map(({ text }) => text === '')).toEqual([true, false]);
  });

  it('closes when the server fails for three turns in a row', async () => {
    await using world = await startWorld({ fault: () => ({ status: 500 }) });
    const { session, events, until } = listen(world.vendor);
    for (let turn = 0; turn < 3; turn += 1) {
      session.send(saying());
      session.commit();
    }
    await until('closed');
    expect(of(events, 'audio-lost')).toHaveLength(3);
    expect(of(events, 'final').map(({ text }) => text)).toEqual(['', '']);
    expect(of(events, 'closed')[0]?.error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE', status: 500, attempts: 3 });
    expect(events.at(-1)?.type).toBe('closed');
  });

  it('closes at once for a wrong key, and shows it nowhere', async () => {
    await using world = await startWorld({
      apiKey: KEY,
      fault: () => ({ status: 401, body: `Incorrect API key provided: ${KEY}` }),
    });
    const { session, events, until } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await until('closed');
    const error = of(events, 'closed')[0]?.error;
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_AUTH', status: 401 });
    expect(JSON.stringify([events, String(error), Reflect.get(error ?? {}, 'body')])).not.toContain(KEY);
    expect(world.server.requests).toHaveLength(1);
    expect(world.server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('closes with the reason for an answer that is no transcription', async () => {
    await using garbage = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"words": 3');
    }).listen(0, '127.0.0.1');
    await once(garbage, 'listening');
    const { port } = garbage.address() as AddressInfo;
    await using world = await startWorld({}, { baseUrl: `http://127.0.0.1:${port}` });
    const { session, events, until } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await until('closed');
    expect(of(events, 'closed')[0]?.error).toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL' });
    garbage.closeAllConnections();
  });

  it('follows no redirect, which could carry the key elsewhere', async () => {
    await using elsewhere = await startOpenAi({ engines: scriptedEngines() });
    await using world = await startWorld({
      apiKey: KEY,
      fault: () => ({ status: 307, headers: { location: `${elsewhere.url}/audio/transcriptions` } }),
    });
    const { session, events, until } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await until('closed');
    expect(of(events, 'closed')[0]?.error).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST', status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });

  it('finalises what was said when it ends', async () => {
    await using world = await startWorld({ texts: ['goodbye'] });
    const { session, events } = listen(world.vendor);
    session.send(saying());
    await session.end();
    expect(events.map(({ type }) => type)).toEqual(['ready', 'final', 'closed']);
    expect(of(events, 'closed')[0]?.error).toBeUndefined();
    session.send(saying());
    session.commit();
    expect(events).toHaveLength(3);
  });

  it('stops at once when it is aborted', async () => {
    await using world = await startWorld({ fault: () => 'silent' });
    const { session, events } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await expect.poll(() => world.server.requests.length).toBe(1);
    session.abort();
    await world.server.requests[0]?.hungUp;
    expect(of(events, 'closed')).toEqual([]);
    expect(of(events, 'final')).toEqual([]);
  });
});
