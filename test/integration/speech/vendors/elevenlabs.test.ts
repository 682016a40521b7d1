import { describe, expect, it, test } from 'vitest';
import { decodeAudio } from '../../../../src/audio/codec.ts';
import { rmsLevelDb } from '../../../../src/audio/level.ts';
import { Secret } from '../../../../src/config/secrets.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import type { SynthesisRequest } from '../../../../src/speech/port.ts';
import { elevenlabs } from '../../../../src/speech/vendors/elevenlabs/vendor.ts';
import { quickClock } from '../../../support/quick-clock.ts';
import { type ElevenLabsServerOptions, startElevenLabs } from '../../../support/vendors/elevenlabs.ts';
import { audioOf, Listening } from '../../../support/vendors/listening.ts';
import { scriptedEngines } from '../../../support/vendors/scripted-engines.ts';
import { eventually } from '../../../support/eventually.ts';
import { failureOf } from '../support.ts';

const { signal } = new AbortController();
const sentence: SynthesisRequest = { text: 'Good morning.', voice: 'JBFqnCBsd6RMkjVDRZzb', language: 'en' };

interface Options extends Partial<ElevenLabsServerOptions> {
  readonly settings?: Record<string, unknown>;
  readonly texts?: string[];
  /** How many times as fast the adapter's clock goes. */
  readonly times?: number;
}

async function start({ settings = {}, texts = [], times = 1, ...options }: Options = {}) {
  const engines = scriptedEngines(...texts);
  const server = await startElevenLabs({ engines, ...options });
  const opened = elevenlabs.open(
    { settings: { baseUrl: server.url, ...settings }, secrets: { apiKey: [new Secret('xi-key')] } },
    { clock: times === 1 ? systemClock : quickClock(times), logger: silentLogger },
  );
  const { recogniser, synthesizer } = opened ?? {};
  if (opened === undefined || recogniser === undefined || synthesizer === undefined)
    throw new Error('ElevenLabs is not configured');
  return {
    engines,
    server,
    recogniser,
    synthesizer,
    opened,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('the settings of ElevenLabs', () => {
  it('open nothing without a key', () => {
    const parts = { clock: systemClock, logger: silentLogger };
    expect(elevenlabs.open({ settings: {}, secrets: { apiKey: [] } }, parts)).toBeUndefined();
  });

  test.each([
    { baseUrl: 'https://api.in.residency.elevenlabs.io', problems: 0 },
    { baseUrl: 'http://speech.example.com', problems: 1 },
    { baseUrl: 'http://127.0.0.1:8080', problems: 0 },
  ])('have $problems problems at $baseUrl', ({ baseUrl, problems }) => {
    const config = { settings: { baseUrl }, secrets: { apiKey: [new Secret('xi-key')] } };
    expect(elevenlabs.problems?.(config)).toHaveLength(problems);
  });
});

describe('recognition by ElevenLabs', () => {
  it('opens a session with manual commits, and its key in the header alone', async () => {
    await using world = await start({ settings: { logging: false } });
    const boostPhrases = ['Offhook', 'a phrase that is far too long'];
    using heard = new Listening(world.recogniser, { language: 'hi', boostPhrases });
    await eventually(() => heard.of('ready').length === 1);
    const [session] = world.server.sessions;
    expect(Object.fromEntries(session?.query ?? [])).toEqual({
      model_id: 'scribe_v2_realtime',
      audio_format: 'pcm_8000',
      commit_strategy: 'manual',
      language_code: 'hi',
      keyterms: 'Offhook',
      enable_logging: 'false',
    });
    expect(session?.headers['xi-api-key']).toBe('xi-key');
    expect(world.server.upgrades.join()).not.toContain('xi-key');
  });

  it('answers commits with the words before them', async () => {
    await using world = await start({ texts: ['good morning', 'a room for two'] });
    using heard = new Listening(world.recogniser);
    for (const count of [1, 2]) {
      heard.say(350);
      heard.session.commit();
      await eventually(() => heard.finals.length === count);
    }
    expect(heard.finals).toEqual(['0 good morning end', '1 a room for two end']);
    expect(world.server.sessions[0]?.samples).toHaveLength(5_600);
    expect(world.server.sessions[0]?.commits).toBe(2);
  });

  it('holds the audio that comes before the session has started', async () => {
    await using world = await start({ texts: ['hello'] });
    using heard = new Listening(world.recogniser);
    heard.say(350);
    heard.session.commit();
    expect(heard.events).toEqual([]);
    await eventually(() => heard.finals.length === 1);
    expect(heard.finals).toEqual(['0 hello end']);
  });

  it('tells interim words, and the language that was heard', async () => {
    await using world = await start({ texts: ['नमस्ते'] });
    using heard = new Listening(world.recogniser, { language: 'auto' });
    await eventually(() => heard.of('ready').length === 1);
    world.server.sessions[0]?.send({ message_type: 'partial_transcript', text: 'नम' });
    await eventually(() => heard.of('partial').length === 1);
    await heard.turn(350);
    expect(heard.of('partial')).toEqual([{ type: 'partial', seg: 0, text: 'नम' }]);
    expect(heard.of('final')).toEqual([{ type: 'final', seg: 0, text: 'नमस्ते', endOfUtterance: true, language: 'hi' }]);
    expect(world.server.sessions[0]?.query.get('include_language_detection')).toBe('true');
    expect(world.server.sessions[0]?.query.has('language_code')).toBe(false);
  });

  it('takes what ElevenLabs commits by itself for no answer', async () => {
    await using world = await start({ texts: ['the rest'] });
    using heard = new Listening(world.recogniser);
    await eventually(() => heard.of('ready').length === 1);
    world.server.sessions[0]?.send({ message_type: 'committed_transcript', text: 'a long story' });
    await eventually(() => heard.finals.length === 1);
    await heard.turn(350);
    expect(heard.finals).toEqual(['0 a long story', '1 the rest end']);
  });

  it('answers a commit that has too little audio with an empty final', async () => {
    await using world = await start({ texts: ['hello'] });
    using heard = new Listening(world.recogniser);
    await heard.turn(120);
    await heard.turn(350);
    expect(heard.finals).toEqual(['0  end', '1 hello end']);
    expect(heard.of('reconnecting')).toEqual([]);
  });

  it('answers a commit after noise that ElevenLabs says nothing about', async () => {
    await using world = await start({ silentCommits: true, times: 8 });
    world.engines.recognise = (_, listener) => ({
      push: () => undefined,
      commit: () => listener({ type: 'final', text: '' }),
      close: () => undefined,
    });
    using heard = new Listening(world.recogniser);
    await heard.turn(350);
    expect(heard.finals).toEqual(['0  end']);
    expect(heard.of('reconnecting')).toEqual([]);
  });

  it('sends audio of other rates at the next higher one', async () => {
    await using world = await start({ texts: ['hello'] });
    using heard = new Listening(world.recogniser, { sampleRateHz: 12_000 });
    heard.session.send(new Int16Array(12_000).map((_, index) => 8_000 * Math.sin(index / 4)));
    heard.session.commit();
    await eventually(() => heard.finals.length === 1);
    expect(world.server.sessions[0]?.query.get('audio_format')).toBe('pcm_16000');
    expect(world.server.sessions[0]?.samples.length).toBeGreaterThan(15_900);
  });

  it('says the audio since the last final again when the connection is cut in the middle of a word', async () => {
    await using world = await start({ texts: ['first', 'second'] });
    using heard = new Listening(world.recogniser);
    await heard.turn(350);
    heard.say(350);
    await eventually(() => (world.server.sessions[0]?.samples.length ?? 0) >= 4_800);
    world.server.sessions[0]?.cut();
    await eventually(() => heard.of('ready').length === 2);
    heard.session.commit();
    await eventually(() => heard.finals.length === 2);
    expect(world.server.sessions[1]?.samples).toHaveLength(2_800);
    expect(heard.finals).toEqual(['0 first end', '1 second end']);
    expect(heard.of('audio-lost')).toEqual([]);
  });

  test.each([
    { note: 'a time limit', message: { message_type: 'session_time_limit_exceeded', error: 'too long' } },
    { note: 'a failure that may pass', message: { message_type: 'transcriber_error', error: 'oops' } },
    { note: 'a frame that is no JSON', message: '<html>' },
  ])('goes on in another session after $note', async ({ message }) => {
    await using world = await start({ texts: ['hello'] });
    using heard = new Listening(world.recogniser);
    await eventually(() => heard.of('ready').length === 1);
    world.server.sessions[0]?.send({ message_type: 'something_new' });
    world.server.sessions[0]?.send(message);
    await eventually(() => heard.of('ready').length === 2);
    await heard.turn(350);
    expect(heard.finals).toEqual(['0 hello end']);
  });

  it('goes on in another session when one is closed for being quiet, and keeps one open by empty chunks', async () => {
    await using world = await start({ texts: ['hello'], times: 8 });
    using heard = new Listening(world.recogniser);
    await eventually(() => (world.server.sessions[0]?.empty ?? 0) >= 1);
    world.server.sessions[0]?.close(1000, 'inactive');
    await eventually(() => heard.of('ready').length === 2);
    expect(heard.of('reconnecting')).toEqual([
      { type: 'reconnecting', reason: 'ElevenLabs recognition: the session was closed: inactive' },
    ]);
    await heard.turn(350);
  });

  it('ends with the last words, and no audio is lost', async () => {
    await using world = await start({ texts: ['goodbye'] });
    using heard = new Listening(world.recogniser);
    heard.say(350);
    await heard.session.end();
    expect(heard.finals).toEqual(['0 goodbye end']);
    expect(heard.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
    expect(heard.of('audio-lost')).toEqual([]);
    await eventually(() => world.server.sessions[0]?.closeCode === 1000);
  });

  it('closes at once when aborted', async () => {
    await using world = await start();
    using heard = new Listening(world.recogniser);
    heard.say(350);
    await eventually(() => heard.of('ready').length === 1);
    heard.session.abort();
    await eventually(() => world.server.sessions[0]?.closeCode !== undefined);
    expect(heard.finals).toEqual([]);
  });

  test.each([
    { type: 'auth_error', code: 'OFFHOOK_SPEECH_AUTH' },
    { type: 'quota_exceeded', code: 'OFFHOOK_SPEECH_AUTH' },
    { type: 'rate_limited', code: 'OFFHOOK_SPEECH_BUSY' },
    { type: 'input_error', code: 'OFFHOOK_SPEECH_REQUEST' },
  ])('gives up with a typed error when it is told $type at the start', async ({ type, code }) => {
    await using world = await start({ sessionError: () => ({ message_type: type, error: 'no for xi-key' }) });
    using heard = new Listening(world.recogniser);
    await eventually(() => heard.isClosed);
    expect(heard.of('closed')).toMatchObject([{ error: { code, platformCode: type } }]);
    expect(heard.of('closed')[0]?.error?.message).toContain('ElevenLabs recognition: no for [token]');
    expect(world.server.sessions).toHaveLength(1);
  });

  it('says what to do about a key that is refused before the session opens', async () => {
    await using world = await start({ refuse: () => 403 });
    using heard = new Listening(world.recogniser);
    await eventually(() => heard.isClosed);
    const { message } = heard.of('closed')[0]?.error ?? new Error('no error');
    expect(heard.of('closed')).toMatchObject([{ error: { code: 'OFFHOOK_SPEECH_AUTH', status: 403, requestId: 'request-1' } }]);
    expect(message).toContain('ELEVENLABS_API_KEY');
    expect(message).not.toContain('xi-key');
  });
});

describe('synthesis by ElevenLabs', () => {
  test.each([
    { format: { encoding: 'mulaw', rateHz: 8_000 }, asked: 'ulaw_8000' },
    { format: { encoding: 'alaw', rateHz: 8_000 }, asked: 'alaw_8000' },
    { format: { encoding: 'pcm16', rateHz: 16_000 }, asked: 'pcm_16000' },
    { format: { encoding: 'pcm16', rateHz: 48_000 }, asked: 'pcm_24000' },
  ] as const)('makes $format.encoding at $format.rateHz Hz of $asked', async ({ format, asked }) => {
    await using world = await start({ pieceBytes: 333 });
    const parts: Uint8Array[] = [];
    for await (const part of world.synthesizer.speak({ ...sentence, format }, signal)) parts.push(Buffer.from(part));
    const [request] = world.server.requests;
    expect(request?.path).toBe('/v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/stream');
    expect(Object.fromEntries(request?.query ?? [])).toEqual({ output_format: asked });
    if (format.encoding === 'pcm16') expect(parts.filter(({ length }) => length % 2 === 1)).toEqual([]);
    const pcm = decodeAudio(format.encoding, Buffer.concat(parts));
    expect(pcm.length / format.rateHz).toBeCloseTo(0.26, 2);
    expect(rmsLevelDb(pcm)).toBeGreaterThan(-20);
  });

  it('sends the text, the model and the language in the body, and its key in a header', async () => {
    await using world = await start({ settings: { logging: false } });
    await audioOf(world.synthesizer.speak({ ...sentence, language: 'hi', speed: 4 }, signal));
    const [request] = world.server.requests;
    expect(request?.fields).toEqual({
      text: 'Good morning.',
      model_id: 'eleven_flash_v2_5',
      language_code: 'hi',
      voice_settings: { speed: 1.2 },
    });
    expect(request?.query.get('enable_logging')).toBe('false');
    expect(request?.headers['xi-api-key']).toBe('xi-key');
  });

  it('names no language to a model that refuses it, and cuts a text that is too long for one', async () => {
    await using world = await start({ settings: { synthesisModel: 'eleven_v3' } });
    const text = 'This is one of many sentences. '.repeat(200).trim();
    await audioOf(world.synthesizer.speak({ ...sentence, text }, signal));
    expect(world.server.requests.map(({ fields }) => String(fields['text'])).join('')).toBe(text);
    expect(world.server.requests).toHaveLength(2);
    expect(world.server.requests[0]?.fields).not.toHaveProperty('language_code');
  });

  it('hangs up when the caller interrupts, so that no more is made', async () => {
    await using world = await start({ pieceBytes: 80 });
    for await (const _ of world.synthesizer.speak({ ...sentence, text: 'word '.repeat(400) }, signal)) break;
    await world.server.requests[0]?.hungUp;
    const stop = new AbortController();
    const spoken = failureOf(
      (async () => {
        for await (const _ of world.synthesizer.speak({ ...sentence, text: 'word '.repeat(400) }, stop.signal))
          stop.abort(new Error('the caller spoke'));
      })(),
    );
    expect((await spoken).message).toBe('the caller spoke');
    await world.server.requests[1]?.hungUp;
  });

  test.each([
    { status: 401, detail: { status: 'invalid_api_key', message: 'no xi-key' }, code: 'OFFHOOK_SPEECH_AUTH', requests: 1 },
    { status: 401, detail: { status: 'quota_exceeded', message: 'no credits' }, code: 'OFFHOOK_SPEECH_AUTH', requests: 1 },
    { status: 422, detail: [{ loc: ['body', 'text'], msg: 'bad' }], code: 'OFFHOOK_SPEECH_REQUEST', requests: 1 },
    { status: 429, detail: { status: 'system_busy', message: 'busy' }, code: 'OFFHOOK_SPEECH_BUSY', requests: 3 },
    { status: 503, detail: 'down', code: 'OFFHOOK_SPEECH_UNAVAILABLE', requests: 3 },
  ])('throws a typed error for $status', async ({ status, detail, code, requests }) => {
    await using world = await start({ speechFault: () => ({ status, detail }) });
    const failure = await failureOf(audioOf(world.synthesizer.speak(sentence, signal)));
    expect(failure).toMatchObject({ code, status });
    expect(failure.message).not.toContain('xi-key');
    expect(world.server.requests).toHaveLength(requests);
  });

  it('does not wait as long as a busy service asks, when that is too long for a call', async () => {
    const busy = { status: 429, detail: 'busy', headers: { 'retry-after': '30' } };
    await using world = await start({ speechFault: () => busy });
    const failure = await failureOf(audioOf(world.synthesizer.speak(sentence, signal)));
    expect(failure).toMatchObject({ code: 'OFFHOOK_SPEECH_BUSY', waitMs: 30_000 });
    expect(world.server.requests).toHaveLength(1);
  });

  it('tries again when the connection is reset before the answer, and not after some audio', async () => {
    await using world = await start({ speechFault: (index) => (['reset', undefined, 'break'] as const)[index] });
    expect(await audioOf(world.synthesizer.speak(sentence, signal))).not.toHaveLength(0);
    expect(world.server.requests).toHaveLength(2);
    const failure = await failureOf(audioOf(world.synthesizer.speak(sentence, signal)));
    expect(failure).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(world.server.requests).toHaveLength(3);
  });

  it('opens a connection before the first sentence, without its key', async () => {
    await using world = await start();
    world.opened.warm?.();
    expect(await audioOf(world.synthesizer.speak(sentence, signal))).not.toHaveLength(0);
  });
});
