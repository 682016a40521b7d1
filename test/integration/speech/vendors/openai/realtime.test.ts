import { describe, expect, it, test } from 'vitest';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { SocketRecogniser } from '../../../../../src/speech/asr/socket-recogniser.ts';
import { FixedToken } from '../../../../../src/speech/client/credentials.ts';
import { PLATFORM_RECOGNITION } from '../../../../../src/speech/platform-capabilities.ts';
import { type RealtimeDialectOptions, realtimeDialect } from '../../../../../src/speech/vendors/openai/realtime.ts';
import type { OpenVendor } from '../../../../../src/speech/vendors/vendor.ts';
import { scriptedEngines } from '../../../../support/vendors/scripted-engines.ts';
import { hiss, listen, of, RATE_HZ, saying, voice } from '../listening.ts';
import { KEY, startWorld, type World } from './world.ts';
import { type OpenAiServerOptions, startOpenAi } from '../../../../support/vendors/openai.ts';

type Options = Partial<OpenAiServerOptions> & { readonly texts?: readonly string[] };
const startRealtime = (options: Options = {}, settings: Record<string, unknown> = {}): Promise<World> =>
  startWorld({ isStrict: false, ...options }, { recognition: 'realtime', recognitionModel: 'gpt-live-transcribe', ...settings });

/** The dialect for OpenAI's own address, at a simulated one. */
function realtimeAt(url: string, options: Omit<RealtimeDialectOptions, 'keyAdvice'>): OpenVendor {
  const recogniser = new SocketRecogniser({
    url,
    dialect: realtimeDialect({ keyAdvice: 'check the key', ...options }),
    capabilities: PLATFORM_RECOGNITION,
    tokens: new FixedToken(KEY),
    clock: systemClock,
    logger: silentLogger,
    onWarning: () => undefined,
  });
  return { recogniser, synthesizer: undefined, [Symbol.asyncDispose]: () => recogniser[Symbol.asyncDispose]() };
}

const COMMIT = 'input_audio_buffer.commit';
const APPEND = 'input_audio_buffer.append';
const DONE = 'conversation.item.input_audio_transcription.completed';

describe('the transcription socket', () => {
  it('is ready once the session is configured, and answers a commit with the final of its turn', async () => {
    await using world = await startRealtime({ texts: ['book a table'], apiKey: KEY });
    const { events, say } = listen(world.vendor);
    await say();
    expect(events.at(0)).toEqual({ type: 'ready' });
    expect(of(events, 'partial').map(({ seg, text }) => `${seg} ${text}`)).toEqual(['0 book', '0 book a', '0 book a table']);
    expect(of(events, 'final')).toEqual([
      { type: 'final', seg: 0, text: 'book a table', endOfUtterance: true, language: undefined },
    ]);
    const [socket] = world.server.sockets;
    expect(socket?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(socket?.url).not.toContain(KEY);
    expect(socket?.url).toContain('intent=transcription');
  });

  it.each([
    ['pcm', { type: 'audio/pcm', rate: 24_000 }, 24_000],
    ['pcmu', { type: 'audio/pcmu' }, 8_000],
  ])('sends a telephone line as %s', async (realtimeAudio, format, rateHz) => {
    await using world = await startRealtime({ texts: ['hello'] }, { realtimeAudio });
    const { say } = listen(world.vendor, { boostPhrases: ['Kolkata'], language: 'hi' });
    await say();
    const update = world.server.sockets[0]?.events[0] as { session: { audio: { input: object } } };
    expect(update.session.audio.input).toEqual({
      format,
      transcription: { model: 'gpt-live-transcribe', language: 'hi', keywords: ['Kolkata'] },
      turn_detection: null,
    });
    expect((world.server.sockets[0]?.samples() ?? 0) / rateHz).toBeCloseTo(1.8, 1);
    expect(world.engines.opened[0]).toEqual({ language: 'hi', rateHz, hints: ['Kolkata'] });
  });

  it('sends OpenAI no field or parameter that its service does not know', async () => {
    const engines = scriptedEngines('hello');
    await using server = await startOpenAi({ engines, apiKey: KEY, isStrict: true });
    const vendor = realtimeAt(server.url, { model: 'gpt-live-transcribe', apiKey: KEY, usesG711: true, isOpenAi: true });
    const { session, events, say } = listen(vendor, { boostPhrases: ['Asha'] });
    await say();
    expect(of(events, 'final')[0]?.text).toBe('hello');
    expect(server.sockets[0]?.url).toBe('/v1/realtime?intent=transcription');
    session.abort();
  });

  it('answers a commit after silence with an empty final, and one without audio too', async () => {
    await using world = await startRealtime();
    const { session, events, until } = listen(world.vendor);
    session.send(hiss(1_000));
    session.commit();
    session.commit();
    await until('final', 2);
    expect(of(events, 'final').map(({ seg, text, endOfUtterance }) => `${seg} ${text} ${endOfUtterance}`)).toEqual([
      '0  true',
      '1  true',
    ]);
    expect(world.server.sockets).toHaveLength(1);
  });

  it('tells finals in the order of their turns when their texts come in another', async () => {
    await using world = await startRealtime({
      texts: ['one', 'two'],
      socketFault: ({ event, count }) => (event === COMMIT && count === 0 ? 'late' : undefined),
    });
    const { session, events, say } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await say(2);
    expect(of(events, 'final').map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('holds the audio that was given before it is ready', async () => {
    await using world = await startRealtime({ texts: ['early words'] });
    const { session, events, until } = listen(world.vendor);
    session.send(voice(1_000));
    session.commit();
    expect(events).toEqual([]);
    await until('final');
    expect(of(events, 'final')[0]?.text).toBe('early words');
    expect((world.server.sockets[0]?.samples() ?? 0) / 24_000).toBeCloseTo(1, 1);
  });

  it.each([
    ['the connection breaks', 'terminate'],
    ['the hour of a session is over', { close: 1001, reason: 'Your session hit the maximum duration of 60 minutes.' }],
    ['the server fails', { close: 1011, reason: 'internal error' }],
    [
      'the session expires',
      {
        say: JSON.stringify({
          type: 'error',
          error: { type: 'invalid_request_error', code: 'session_expired', message: 'Your session hit the maximum duration.' },
        }),
      },
    ],
    [
      'the server reports an error',
      { say: JSON.stringify({ type: 'error', error: { type: 'server_error', code: null, message: 'Sorry' } }) },
    ],
    [
      'the text of the turn fails',
      {
        say: JSON.stringify({
          type: 'conversation.item.input_audio_transcription.failed',
          item_id: 'x',
          error: { type: 'server_error', message: 'it failed' },
        }),
      },
    ],
    ['the server sends what is no JSON', { say: '<html>' }],
  ] as const)('sends the audio since the last final again when %s', async (_fault, fault) => {
    await using world = await startRealtime({
      // The first socket may have recognised the turn too, before it was closed.
      texts: ['one', 'two', 'two'],
      socketFault: ({ socket, event, count }) => (socket === 0 && event === APPEND && count === 25 ? fault : undefined),
    });
    const { events, say } = listen(world.vendor);
    await say();
    await say(2);
    expect(of(events, 'reconnecting')).toHaveLength(1);
    expect(of(events, 'final').map(({ seg, text }) => [seg, text])).toEqual([
      [0, 'one'],
      [expect.any(Number), 'two'],
    ]);
    expect(of(events, 'final')[1]?.seg).toBeGreaterThan(0);
    // The second turn alone, whole.
    expect((world.server.sockets[1]?.samples() ?? 0) / 24_000).toBeCloseTo(1.8, 1);
    expect(of(events, 'audio-lost')).toEqual([]);
  });

  it('replaces a socket that does not answer a commit', async () => {
    await using world = await startRealtime({
      texts: ['hello'],
      socketFault: ({ socket, event }) => (socket === 0 && event === COMMIT ? 'ignore' : undefined),
    });
    const { events, say } = listen(world.vendor);
    await say();
    expect(of(events, 'final')[0]?.text).toBe('hello');
    expect(world.server.sockets).toHaveLength(2);
  });

  it('gives up after three sockets that die young, and tells the lost audio', async () => {
    await using world = await startRealtime({ socketFault: ({ event }) => (event === COMMIT ? 'terminate' : undefined) });
    const { session, events, until } = listen(world.vendor);
    session.send(saying());
    session.commit();
    await until('closed');
    expect(of(events, 'audio-lost')).toMatchObject([{ fromMs: 0, lostMs: 1_800 }]);
    expect(of(events, 'closed')[0]?.error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(world.server.sockets).toHaveLength(3);
  });

  it('goes on after an error that leaves the session open, and after events that it does not know', async () => {
    const odd = [
      { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_value', message: 'Invalid value' } },
      { type: 'conversation.item.retrieved' },
      { type: DONE },
      { no: 'type' },
      [1, 2],
    ];
    await using world = await startRealtime({
      texts: ['hello'],
      socketFault: ({ event, count }) =>
        event === APPEND && count < odd.length ? { say: JSON.stringify(odd[count]) } : undefined,
    });
    const { events, say } = listen(world.vendor);
    await say();
    expect(of(events, 'final').map(({ text }) => text)).toEqual(['hello']);
    expect(world.server.sockets).toHaveLength(1);
  });

  test.each([
    ['a wrong key', { refuse: () => ({ status: 401 }) }, {}, 'OFFHOOK_SPEECH_AUTH'],
    ['a model that is not there', {}, { recognitionModel: 'no-such-model' }, 'OFFHOOK_SPEECH_REQUEST'],
    [
      'an account without balance',
      { socketFault: () => ({ close: 3_000, reason: 'invalid_request_error.insufficient_quota' }) },
      {},
      'OFFHOOK_SPEECH_AUTH',
    ],
  ] as const)('closes at once for %s, and shows the key nowhere', async (_fault, options: Options, settings, code) => {
    await using world = await startRealtime({ apiKey: KEY, ...options }, settings);
    const { session, events, until } = listen(world.vendor);
    session.send(saying());
    await until('closed');
    const error = of(events, 'closed')[0]?.error;
    expect(error).toMatchObject({ code });
    expect(JSON.stringify([events, String(error), Reflect.get(error ?? {}, 'body')])).not.toContain(KEY);
    expect(world.server.sockets.length).toBeLessThan(2);
  });

  it('opens again after a limit, when the time that the server asked for is over', async () => {
    await using world = await startRealtime({
      texts: ['hello'],
      socketFault: () => undefined,
      refuse: (index) => (index === 0 ? { status: 429, headers: { 'retry-after': '1' } } : undefined),
    });
    const { events, say } = listen(world.vendor);
    await say();
    expect(events.map(({ type }) => type)).toEqual(['reconnecting', 'ready', 'partial', 'final']);
  });

  it('finalises what was said when it ends, and closes the socket', async () => {
    await using world = await startRealtime({ texts: ['goodbye'] });
    const { session, events } = listen(world.vendor);
    session.send(saying());
    await session.end();
    expect(of(events, 'final')[0]?.text).toBe('goodbye');
    expect(events.at(-1)).toEqual({ type: 'closed', error: undefined });
    await expect.poll(() => world.server.sockets[0]?.closed).toBe(1000);
  });

  it('stops at once when it is aborted', async () => {
    await using world = await startRealtime({ socketFault: ({ event }) => (event === COMMIT ? 'ignore' : undefined) });
    const { session, events, until } = listen(world.vendor);
    await until('ready');
    session.send(joinSamples([voice(500)]));
    session.commit();
    session.abort();
    await expect.poll(() => world.server.sockets[0]?.closed).toBe(1000);
    expect(events).toEqual([{ type: 'ready' }]);
  });

  it('takes any sample rate', async () => {
    await using world = await startRealtime({ texts: ['hello'] });
    const { session, until } = listen(world.vendor, { sampleRateHz: 2 * RATE_HZ });
    session.send(saying(2 * RATE_HZ));
    session.commit();
    await until('final');
    expect((world.server.sockets[0]?.samples() ?? 0) / 24_000).toBeCloseTo(1.8, 1);
  });
});
