import { describe, expect, it, test } from 'vitest';
import { decodeAudio } from '../../../../src/audio/codec.ts';
import { rmsLevelDb } from '../../../../src/audio/level.ts';
import { Secret } from '../../../../src/config/secrets.ts';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import type { Recogniser, SynthesisRequest, Synthesizer } from '../../../../src/speech/port.ts';
import { DeepgramSynthesizer } from '../../../../src/speech/vendors/deepgram/synthesizer.ts';
import { deepgram } from '../../../../src/speech/vendors/deepgram/vendor.ts';
import { type DeepgramServerOptions, startDeepgram } from '../../../support/vendors/deepgram.ts';
import { audioOf, Listening } from '../../../support/vendors/listening.ts';
import { scriptedEngines } from '../../../support/vendors/scripted-engines.ts';
import { eventually } from '../../../support/eventually.ts';
import { failureOf } from '../support.ts';

const { signal } = new AbortController();
const sentence: SynthesisRequest = { text: 'Good morning.', voice: 'aura-2-thalia-en', language: 'en' };

async function start(
  options: Partial<DeepgramServerOptions> & { readonly settings?: Record<string, unknown>; readonly texts?: string[] } = {},
) {
  const { settings = {}, texts = [], ...rest } = options;
  const engines = scriptedEngines(...texts);
  const server = await startDeepgram({ engines, ...rest });
  const opened = deepgram.open(
    { settings: { baseUrl: server.url, ...settings }, secrets: { apiKey: [new Secret('dg-key')] } },
    { clock: systemClock, logger: silentLogger },
  );
  const { recogniser, synthesizer } = opened ?? {};
  if (opened === undefined || recogniser === undefined || synthesizer === undefined)
    throw new Error('Deepgram is not configured');
  return {
    engines,
    server,
    recogniser: recogniser satisfies Recogniser,
    synthesizer: synthesizer satisfies Synthesizer,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test.each([
  { baseUrl: 'https://api.in.deepgram.com', problems: 0 },
  { baseUrl: 'http://speech.example.com', problems: 1 },
])('has $problems problems at $baseUrl', ({ baseUrl, problems }) => {
  const config = { settings: { baseUrl }, secrets: { apiKey: [new Secret('dg-key')] } };
  expect(deepgram.problems?.(config)).toHaveLength(problems);
});

it('is not open without a key', () => {
  expect(deepgram.open({ settings: {}, secrets: { apiKey: [] } }, { clock: systemClock, logger: silentLogger })).toBeUndefined();
});

describe('recognition by Deepgram', () => {
  it('opens a stream of raw samples, with its key in the header alone', async () => {
    await using world = await start({ settings: { endpointingMs: 500, smartFormat: true, mipOptOut: true } });
    using heard = new Listening(world.recogniser, { language: 'hi', boostPhrases: ['Offhook', ' Offhook ', 'फिर से'] });
    await eventually(() => heard.of('ready').length === 1);
    const [stream] = world.server.listens;
    expect(Object.fromEntries(stream?.query ?? [])).toEqual({
      model: 'nova-3',
      language: 'hi',
      encoding: 'linear16',
      sample_rate: '8000',
      channels: '1',
      interim_results: 'true',
      punctuate: 'true',
      endpointing: '500',
      smart_format: 'true',
      mip_opt_out: 'true',
      keyterm: 'फिर से',
    });
    expect(stream?.keyterms).toEqual(['Offhook', 'फिर से']);
    expect(stream?.headers.authorization).toBe('Token dg-key');
    expect(world.server.upgrades.join()).not.toContain('dg-key');
  });

  it('asks for several languages at once where the language is auto', async () => {
    await using world = await start();
    using heard = new Listening(world.recogniser, { language: 'auto' });
    await eventually(() => heard.of('ready').length === 1);
    expect(world.server.listens[0]?.query.get('language')).toBe('multi');
  });

  it('answers a commit with the words before it, which Finalize asks for', async () => {
    await using world = await start({ texts: ['good morning', 'a room for two'] });
    using heard = new Listening(world.recogniser);
    await heard.turn(250);
    await heard.turn(250);
    expect(heard.finals).toEqual(['0 good morning end', '1 a room for two end']);
    expect(world.server.listens[0]?.samples).toHaveLength(4_000);
    expect(world.server.listens[0]?.controls).toEqual(['Finalize', 'Finalize']);
  });

  it('tells interim words, under the number of their final', async () => {
    await using world = await start({ texts: ['good morning'] });
    using heard = new Listening(world.recogniser);
    await eventually(() => world.server.listens.length === 1);
    const channel = { alternatives: [{ transcript: 'good', confidence: 0.5, words: [] }] };
    world.server.listens[0]?.send({ type: 'Results', start: 0, duration: 0.2, is_final: false, speech_final: false, channel });
    await eventually(() => heard.of('partial').length === 1);
    await heard.turn(250);
    expect(heard.of('partial')).toEqual([{ type: 'partial', seg: 0, text: 'good' }]);
    expect(heard.of('final')).toMatchObject([{ seg: 0, text: 'good morning' }]);
  });

  it('ends an utterance at a pause, and answers the commit after it without asking twice', async () => {
    await using world = await start({ texts: ['good morning'], settings: { endpointingMs: 200 }, silentFinalize: true });
    using heard = new Listening(world.recogniser);
    heard.say(200);
    heard.pause(300);
    await eventually(() => heard.finals.length === 1);
    heard.session.commit();
    await eventually(() => heard.finals.length === 2);
    expect(heard.finals).toEqual(['0 good morning end', '1  end']);
  });

  it('answers a commit before which nobody spoke, though Deepgram says nothing', async () => {
    await using world = await start({ silentFinalize: true });
    using heard = new Listening(world.recogniser);
    heard.pause(200);
    heard.session.commit();
    await eventually(() => heard.finals.length === 1);
    expect(heard.finals).toEqual(['0  end']);
    expect(heard.of('reconnecting')).toEqual([]);
  });

  it('drops the empty finals of silence', async () => {
    await using world = await start({ texts: ['yes'], emptyFinals: true });
    using heard = new Listening(world.recogniser);
    heard.pause(1_100);
    await heard.turn(200);
    expect(heard.finals).toEqual(['0 yes end']);
  });

  it('keeps a stream open in silence, which is closed after ten seconds otherwise', async () => {
    await using world = await start({ idleMs: 5_000, texts: ['still here'] });
    using heard = new Listening(world.recogniser);
    await eventually(() => world.server.listens[0]?.controls.includes('KeepAlive') === true);
    await heard.turn(200);
    expect(world.server.listens).toHaveLength(1);
    expect(heard.of('reconnecting')).toEqual([]);
  });

  it('says the audio since the last final again when the connection is cut in the middle of a word', async () => {
    await using world = await start({ texts: ['first', 'second'] });
    using heard = new Listening(world.recogniser);
    await heard.turn(200);
    heard.say(250);
    await eventually(() => (world.server.listens[0]?.samples.length ?? 0) >= 3_200);
    world.server.listens[0]?.cut();
    await eventually(() => heard.of('ready').length === 2);
    heard.session.commit();
    await eventually(() => heard.finals.length === 2);
    expect(world.server.listens[1]?.samples).toHaveLength(2_000);
    expect(heard.finals).toEqual(['0 first end', '1 second end']);
    expect(heard.of('audio-lost')).toEqual([]);
  });

  it('sends a commit again that was not answered before Deepgram closed the stream', async () => {
    await using world = await start({ texts: ['hello', 'hello'], silentFinalize: true });
    using heard = new Listening(world.recogniser);
    await eventually(() => world.server.listens.length === 1);
    heard.say(200);
    await eventually(() => (world.server.listens[0]?.samples.length ?? 0) >= 1_600);
    world.server.listens[0]?.close(1011, 'NET-0000');
    heard.session.commit();
    await eventually(() => heard.finals.length === 1);
    expect(heard.finals).toEqual(['0 hello end']);
    expect(heard.of('reconnecting')).toMatchObject([{ reason: 'Deepgram recognition: NET-0000' }]);
  });

  it('opens another stream after a frame that is no JSON, and passes over unknown messages', async () => {
    await using world = await start({ texts: ['hello'] });
    using heard = new Listening(world.recogniser);
    await eventually(() => world.server.listens.length === 1);
    world.server.listens[0]?.send({ type: 'SpeechStarted', channel: [0], timestamp: 0.1 });
    world.server.listens[0]?.send({ type: 'Results', is_final: true, channel: 'nothing' });
    world.server.listens[0]?.send('<html>');
    await eventually(() => heard.of('ready').length === 2);
    await heard.turn(200);
    expect(heard.finals).toEqual(['0 hello end']);
  });

  it('has fixed phrases at another address than the global one', async () => {
    await using world = await start();
    using heard = new Listening(world.recogniser, { boostPhrases: ['room'] });
    await eventually(() => heard.of('ready').length === 1);
    expect(heard.session.listenFor).toBeUndefined();
    expect(world.server.listens[0]?.keyterms).toEqual(['room']);
  });

  it('ends with the last words, and no audio is lost', async () => {
    await using world = await start({ texts: ['goodbye'] });
    using heard = new Listening(world.recogniser);
    heard.say(250);
    await heard.session.end();
    expect(heard.of('final')).toMatchObject([{ seg: 0, text: 'goodbye' }]);
    expect(heard.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
    expect(heard.of('audio-lost')).toEqual([]);
    expect(world.server.listens[0]?.controls).toEqual(['CloseStream']);
  });

  it('closes at once when aborted', async () => {
    await using world = await start();
    const heard = new Listening(world.recogniser);
    heard.say(250);
    await eventually(() => world.server.listens.length === 1);
    heard.session.abort();
    await eventually(() => world.server.listens[0]?.closeCode !== undefined);
    expect(heard.of('final')).toEqual([]);
  });

  test.each([
    { status: 401, code: 'INVALID_AUTH', error: { code: 'OFFHOOK_SPEECH_AUTH', status: 401, requestId: 'request-1' } },
    { status: 402, code: 'ASR_PAYMENT_REQUIRED', error: { code: 'OFFHOOK_SPEECH_AUTH', status: 402 } },
    { status: 400, code: 'INVALID_QUERY_PARAMETER', error: { code: 'OFFHOOK_SPEECH_REQUEST', status: 400 } },
  ])('says what is wrong when the stream is refused with $status', async ({ status, code, error }) => {
    await using world = await start({ refuse: () => ({ status, code, message: 'not with dg-key' }) });
    using heard = new Listening(world.recogniser);
    await eventually(() => heard.isClosed);
    expect(heard.of('closed')).toMatchObject([{ error }]);
    const { message } = heard.of('closed')[0]?.error ?? new Error('no error');
    expect(message).toContain('Deepgram socket upgrade: not with [token]');
    expect(message).not.toContain('dg-key');
    expect(world.server.upgrades).toHaveLength(1);
  });

  it('tries again as late as a 429 asks, and then goes on', async () => {
    const busy = { status: 429, code: 'TOO_MANY_REQUESTS', message: 'slow down', headers: { 'retry-after': '1' } };
    await using world = await start({ refuse: (index) => (index === 0 ? busy : undefined), texts: ['hello'] });
    using heard = new Listening(world.recogniser);
    const sinceMs = performance.now();
    await heard.turn(200);
    expect(performance.now() - sinceMs).toBeGreaterThan(990);
    expect(heard.finals).toEqual(['0 hello end']);
    expect(heard.of('audio-lost')).toEqual([]);
  });

  it('gives up a 429 that asks for a longer wait than audio is kept', async () => {
    const busy = { status: 429, code: 'TOO_MANY_REQUESTS', message: 'slow down', headers: { 'retry-after': '60' } };
    await using world = await start({ refuse: () => busy });
    using heard = new Listening(world.recogniser);
    await eventually(() => heard.isClosed);
    expect(heard.of('closed')).toMatchObject([{ error: { code: 'OFFHOOK_SPEECH_BUSY', waitMs: 60_000 } }]);
  });

  it('gives up when the audio cannot be read, and reports it as lost', async () => {
    await using world = await start();
    using heard = new Listening(world.recogniser);
    heard.say(250);
    await eventually(() => (world.server.listens[0]?.samples.length ?? 0) >= 1_600);
    world.server.listens[0]?.close(1008, 'DATA-0000');
    await eventually(() => heard.isClosed);
    expect(heard.of('closed')).toMatchObject([{ error: { code: 'OFFHOOK_SPEECH_FAILED' } }]);
    expect(heard.of('audio-lost')).toMatchObject([{ fromMs: 0, lostMs: 250 }]);
  });
});

describe('synthesis by Deepgram', () => {
  test.each([
    { format: { encoding: 'mulaw', rateHz: 8_000 }, query: { encoding: 'mulaw', sample_rate: '8000' } },
    { format: { encoding: 'alaw', rateHz: 8_000 }, query: { encoding: 'alaw', sample_rate: '8000' } },
    { format: { encoding: 'pcm16', rateHz: 16_000 }, query: { encoding: 'linear16', sample_rate: '16000' } },
    { format: { encoding: 'pcm16', rateHz: 11_025 }, query: { encoding: 'linear16', sample_rate: '16000' } },
  ] as const)('makes $format.encoding at $format.rateHz Hz of what Deepgram makes', async ({ format, query }) => {
    await using world = await start({ frameBytes: 333 });
    const parts: Uint8Array[] = [];
    for await (const part of world.synthesizer.speak({ ...sentence, format }, signal)) parts.push(Buffer.from(part));
    expect(Object.fromEntries(world.server.speaks[0]?.query ?? [])).toEqual({ model: 'aura-2-thalia-en', ...query });
    if (format.encoding === 'pcm16') expect(parts.filter(({ length }) => length % 2 === 1)).toEqual([]);
    const pcm = decodeAudio(format.encoding, Buffer.concat(parts));
    expect(pcm.length / format.rateHz).toBeCloseTo(0.26, 2);
    expect(rmsLevelDb(pcm)).toBeGreaterThan(-20);
  });

  it('speaks one sentence after another over one socket, with its key in the header alone', async () => {
    await using world = await start();
    for (const text of ['One.', 'Two.']) await audioOf(world.synthesizer.speak({ ...sentence, text }, signal));
    expect(world.server.speaks).toHaveLength(1);
    expect(world.server.speaks[0]?.messages).toEqual(['Speak:One.', 'Flush', 'Speak:Two.', 'Flush']);
    expect(world.server.speaks[0]?.headers.authorization).toBe('Token dg-key');
    expect(world.server.upgrades.join()).not.toContain('dg-key');
  });

  it('has a socket for each voice, and asks for a speed that the voices have', async () => {
    await using world = await start();
    await audioOf(world.synthesizer.speak(sentence, signal));
    await audioOf(world.synthesizer.speak({ ...sentence, voice: 'aura-2-orion-en', speed: 3 }, signal));
    expect(world.server.speaks.map(({ query }) => [query.get('model'), query.get('speed')])).toEqual([
      ['aura-2-thalia-en', null],
      ['aura-2-orion-en', '1.5'],
    ]);
  });

  it('opens a socket before the first sentence needs it, and uses it', async () => {
    await using world = await start();
    if (world.synthesizer instanceof DeepgramSynthesizer) await world.synthesizer.warm();
    expect(world.server.speaks).toHaveLength(1);
    // Metadata of a socket may come while nothing is spoken.
    world.server.speaks[0]?.send({ type: 'Metadata', model_name: 'aura-2-thalia-en' });
    await audioOf(world.synthesizer.speak(sentence, signal));
    await audioOf(world.synthesizer.speak(sentence, signal));
    expect(world.server.speaks.map(({ messages }) => messages.length)).toEqual([4]);
  });

  it('has the rest of a text dropped when the caller interrupts, and speaks the next one over the same socket', async () => {
    await using world = await start({ frameBytes: 80 });
    const long = { ...sentence, text: 'A very long sentence, '.repeat(60) };
    let bytes = 0;
    for await (const part of world.synthesizer.speak(long, signal)) {
      bytes += part.length;
      if (bytes > 800) break;
    }
    await eventually(() => world.server.speaks[0]?.messages.includes('Clear') === true);
    // The answer to Clear comes back before the socket is free.
    await eventually(() => world.engines.spoken.length === 1);
    const audio = await audioOf(world.synthesizer.speak({ ...sentence, text: 'Yes.' }, signal));
    expect(audio).toHaveLength(640);
    expect(world.server.speaks.at(-1)?.messages.slice(-2)).toEqual(['Speak:Yes.', 'Flush']);
  });

  it('stops at once when aborted, and throws the reason', async () => {
    await using world = await start({ frameBytes: 80 });
    const stop = new AbortController();
    const spoken = failureOf(
      (async () => {
        for await (const _ of world.synthesizer.speak({ ...sentence, text: 'word '.repeat(300) }, stop.signal))
          stop.abort(new Error('the caller spoke'));
      })(),
    );
    expect((await spoken).message).toBe('the caller spoke');
    await eventually(() => world.server.speaks[0]?.messages.includes('Clear') === true);
  });

  it('cuts a text that is longer than one message', async () => {
    await using world = await start();
    const text = 'This is one of many sentences. '.repeat(100).trim();
    await audioOf(world.synthesizer.speak({ ...sentence, text }, signal));
    const said = (world.server.speaks[0]?.messages ?? []).filter((message) => message.startsWith('Speak:'));
    expect(said.map((message) => message.slice('Speak:'.length)).join('')).toBe(text);
    expect(said.map(({ length }) => length <= 2_006)).toEqual([true, true]);
  });

  it('takes another socket before one was flushed more than twenty times in a minute', async () => {
    await using world = await start();
    for (let count = 0; count < 21; count += 1) await audioOf(world.synthesizer.speak({ ...sentence, text: 'Hi' }, signal));
    expect(world.server.speaks.map(({ messages }) => messages.filter((message) => message === 'Flush').length)).toEqual([20, 1]);
  });

  it('tries again on another socket when an idle one has died', async () => {
    await using world = await start();
    await audioOf(world.synthesizer.speak(sentence, signal));
    world.server.speaks[0]?.close(1011, 'NET-0001');
    expect(await audioOf(world.synthesizer.speak(sentence, signal))).not.toHaveLength(0);
    expect(world.server.speaks).toHaveLength(2);
  });

  it('has nothing to say of a text without words', async () => {
    await using world = await start();
    world.engines.speak = async function* () {};
    expect(await audioOf(world.synthesizer.speak({ ...sentence, text: '...' }, signal))).toHaveLength(0);
    expect(await failureOf(audioOf(world.synthesizer.speak(sentence, signal)))).toMatchObject({ code: 'OFFHOOK_SPEECH_FAILED' });
  });

  it('throws when the connection breaks after some audio, and does not say the beginning twice', async () => {
    await using world = await start({ frameBytes: 80 });
    const failure = await failureOf(
      (async () => {
        for await (const _ of world.synthesizer.speak({ ...sentence, text: 'word '.repeat(300) }, signal))
          world.server.speaks[0]?.cut();
      })(),
    );
    expect(failure).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(world.server.speaks).toHaveLength(1);
  });

  test.each([
    { status: 401, code: 'OFFHOOK_SPEECH_AUTH', upgrades: 1 },
    { status: 400, code: 'OFFHOOK_SPEECH_REQUEST', upgrades: 1 },
    { status: 429, code: 'OFFHOOK_SPEECH_BUSY', upgrades: 3 },
    { status: 503, code: 'OFFHOOK_SPEECH_UNAVAILABLE', upgrades: 3 },
  ])('throws a typed error for a refusal with $status', async ({ status, code, upgrades }) => {
    await using world = await start({ refuse: () => ({ status, code: 'X', message: 'no dg-key here' }) });
    const failure = await failureOf(audioOf(world.synthesizer.speak(sentence, signal)));
    expect(failure).toMatchObject({ code, status });
    expect(failure.message).not.toContain('dg-key');
    expect(world.server.upgrades).toHaveLength(upgrades);
  });

  test.each([
    { note: 'a failure that it reports', message: { type: 'Error', description: 'no voice' }, code: 'OFFHOOK_SPEECH_FAILED' },
    { note: 'a frame that is no message', message: '<html>', code: 'OFFHOOK_SPEECH_PROTOCOL' },
    { note: 'text in place of audio', message: Buffer.from('{"error":"no audio for you"}'), code: 'OFFHOOK_SPEECH_PROTOCOL' },
  ])('throws for $note', async ({ message, code }) => {
    let world: Awaited<ReturnType<typeof start>> | undefined;
    const beforeAudio = async (): Promise<void> => world?.server.speaks[0]?.send(message);
    await using started = await start({ beforeAudio });
    world = started;
    expect(await failureOf(audioOf(started.synthesizer.speak(sentence, signal)))).toMatchObject({ code });
  });
});
