import { describe, expect, it, test } from 'vitest';
import { decodeAudio } from '../../../../src/audio/codec.ts';
import { type AudioFormat, durationMs, TELEPHONE_FORMAT } from '../../../../src/audio/format.ts';
import { rmsLevelDb } from '../../../../src/audio/level.ts';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { sine } from '../../../../src/audio/tone.ts';
import { Secret } from '../../../../src/config/secrets.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import type { SynthesisRequest } from '../../../../src/speech/port.ts';
import { sarvam } from '../../../../src/speech/vendors/sarvam/vendor.ts';
import type { OpenVendor } from '../../../../src/speech/vendors/vendor.ts';
import { quickClock } from '../../../support/quick-clock.ts';
import { type SarvamServer, type SarvamServerOptions, startSarvam } from '../../../support/vendors/sarvam.ts';
import { type ScriptedEngines, scriptedEngines } from '../../../support/vendors/scripted-engines.ts';
import { hiss, listen, of, RATE_HZ, saying, voice } from './listening.ts';

const KEY = 'sk_sarvam_5ecret-of-the-account';

interface World extends AsyncDisposable {
  readonly server: SarvamServer;
  readonly engines: ScriptedEngines;
  readonly vendor: OpenVendor;
}

type Options = Partial<SarvamServerOptions> & { readonly texts?: readonly string[]; readonly times?: number };

async function startWorld(
  { texts = [], times = 3, ...options }: Options = {},
  settings: Record<string, unknown> = {},
): Promise<World> {
  const engines = scriptedEngines(...texts);
  const server = await startSarvam({ engines, apiKey: KEY, ...options });
  const vendor = sarvam.open(
    { settings: sarvam.settings.parse({ baseUrl: server.url, ...settings }), secrets: { apiKey: [new Secret(KEY)] } },
    { clock: quickClock(times), logger: silentLogger },
  );
  if (vendor === undefined) throw new Error('the vendor is not configured');
  return {
    server,
    engines,
    vendor,
    async [Symbol.asyncDispose]() {
      await vendor[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('recognition', () => {
  it('begins an utterance with its audio, ends it with a commit, and answers with its final', async () => {
    await using world = await startWorld({ texts: ['मुझे मेज़ चाहिए', 'दो'] });
    const { events, say } = listen(world.vendor, { language: 'hi' });
    await say();
    await say(2);
    expect(of(events, 'partial')[0]).toEqual({ type: 'partial', seg: 0, text: 'मुझे' });
    expect(of(events, 'final')).toEqual([
      { type: 'final', seg: 0, text: 'मुझे मेज़ चाहिए', endOfUtterance: true, language: undefined },
      { type: 'final', seg: 1, text: 'दो', endOfUtterance: true, language: undefined },
    ]);
    const [socket] = world.server.sockets;
    expect(socket?.headers['api-subscription-key']).toBe(KEY);
    expect(socket?.url.href).not.toContain(KEY);
    expect(Object.fromEntries(socket?.url.searchParams ?? [])).toEqual({
      language_code: 'hi-IN',
      model: 'saaras:v3-realtime',
      stream_type: 'fast',
      mode: 'transcribe',
      endpointing: 'manual',
      encoding: 'linear16',
      sample_rate: '8000',
    });
    const told = socket?.events.map(({ event }) => event).filter((event) => event !== 'ping');
    expect(told).toEqual(['speech_start', 'speech_end', 'speech_start', 'speech_end']);
  });

  it.each([
    ['says', false],
    ['does not say', true],
  ])('answers a commit after silence when the service %s that nothing was said', async (_how, skipsSilence) => {
    await using world = await startWorld({ texts: ['hello'], skipsSilence });
    const { session, events, until, say } = listen(world.vendor);
    session.send(hiss(1_000));
    session.commit();
    await until('final');
    session.commit();
    await until('final', 2);
    await say(3);
    expect(of(events, 'final').map(({ text, endOfUtterance }) => `${text} ${endOfUtterance}`)).toEqual([
      ' true',
      ' true',
      'hello true',
    ]);
    expect(world.server.sockets).toHaveLength(1);
  });

  it('passes phrases in a message, not in the address, and others while the session is open', async () => {
    await using world = await startWorld({ texts: ['hello'] });
    const { session, say } = listen(world.vendor, { boostPhrases: ['Asha Rao', ' ', 'Kolkata'] });
    await say();
    expect(world.engines.opened[0]?.hints).toEqual(['Asha Rao', 'Kolkata']);
    expect(world.server.sockets[0]?.url.href).not.toContain('Asha');
    session.listenFor?.(['Pune']);
    await expect.poll(() => world.server.sockets[0]?.events).toContainEqual({ event: 'config.update', prompt: 'Pune' });
  });

  it.each([
    ['auto', 'auto', 'hi'],
    ['or', 'or-IN', undefined],
    ['en-US', 'en-IN', undefined],
  ])('takes the language %s as %s', async (language, code, heard) => {
    await using world = await startWorld({ texts: ['hello'] });
    const { events, say } = listen(world.vendor, { language });
    await say();
    expect(world.server.sockets[0]?.url.searchParams.get('language_code')).toBe(code);
    expect(of(events, 'final')[0]?.language).toBe(heard);
  });

  it('takes any sample rate', async () => {
    await using world = await startWorld({ texts: ['hello'] });
    const { session, until } = listen(world.vendor, { sampleRateHz: 24_000 });
    session.send(saying(24_000));
    session.commit();
    await until('final');
    expect(world.server.sockets[0]?.url.searchParams.get('sample_rate')).toBe('16000');
    expect((world.server.sockets[0]?.samples ?? 0) / 16_000).toBeCloseTo(1.8, 1);
  });

  it.each([
    ['the connection breaks', 'terminate'],
    ['the service fails', { close: 1011, reason: 'Internal server error' }],
    ['the service is not available', { close: 4000, reason: 'gRPC backend unavailable' }],
    ['there are too many sessions', { close: 1003, reason: 'Rate limit exceeded' }],
    ['the session was idle for too long', { close: 1008, reason: 'Inactivity timeout' }],
    [
      'an error is fatal',
      { say: JSON.stringify({ event: 'error', code: 'internal', is_fatal: true, message: 'sorry', status_code: 503 }) },
    ],
    ['a message is no JSON', { say: 'upstream error' }],
  ] as const)('sends the audio since the last final again when %s', async (_fault, fault) => {
    await using world = await startWorld({
      // The first socket may have recognised the turn too, before it was closed.
      texts: ['one', 'two', 'two'],
      fault: ({ socket, event, count }) => (socket === 0 && event === 'audio_input' && count === 25 ? fault : undefined),
    });
    const { events, say } = listen(world.vendor);
    await say();
    await say(2);
    expect(of(events, 'reconnecting')).toHaveLength(1);
    expect(of(events, 'final').map(({ text }) => text)).toEqual(['one', 'two']);
    expect(of(events, 'final')[1]?.seg).toBeGreaterThan(0);
    expect((world.server.sockets[1]?.samples ?? 0) / RATE_HZ).toBeCloseTo(1.8, 1);
    expect(of(events, 'audio-lost')).toEqual([]);
  });

  it('takes no silent socket for a silent caller: it asks on another one', async () => {
    await using world = await startWorld({
      texts: ['hello'],
      fault: ({ socket }) => (socket === 0 ? 'ignore' : undefined),
    });
    const { events, say } = listen(world.vendor);
    await say();
    expect(of(events, 'final').map(({ text }) => text)).toEqual(['hello']);
    expect(world.server.sockets).toHaveLength(2);
  });

  it('goes on after an error that is not fatal, and after events that it does not know', async () => {
    const odd = [
      { event: 'error', code: 'invalid_config', is_fatal: false, message: 'no' },
      { event: 'new.thing' },
      { no: 'event' },
    ];
    await using world = await startWorld({
      texts: ['hello'],
      fault: ({ event, count }) =>
        event === 'audio_input' && count < odd.length ? { say: JSON.stringify(odd[count]) } : undefined,
    });
    const { events, say } = listen(world.vendor);
    await say();
    expect(of(events, 'final')[0]?.text).toBe('hello');
    expect(world.server.sockets).toHaveLength(1);
  });

  test.each([
    ['a wrong key', { apiKey: 'another-key' }, {}, 'OFFHOOK_SPEECH_AUTH'],
    ['an upgrade that is refused', { refuse: () => ({ status: 403 }) }, {}, 'OFFHOOK_SPEECH_AUTH'],
    ['a model that is not there', {}, { recognitionModel: 'saaras:v1' }, 'OFFHOOK_SPEECH_REQUEST'],
  ] as const)('closes at once for %s, and shows the key nowhere', async (_fault, options: Options, settings, code) => {
    await using world = await startWorld(options, settings);
    const { session, events, until } = listen(world.vendor);
    session.send(voice(500));
    await until('closed');
    const error = of(events, 'closed')[0]?.error;
    expect(error).toMatchObject({ code });
    expect(JSON.stringify([events, String(error)])).not.toContain(KEY);
    expect(world.server.sockets.length).toBeLessThan(2);
  });

  it('finalises what was said when it ends', async () => {
    await using world = await startWorld({ texts: ['goodbye'] });
    const { session, events } = listen(world.vendor);
    session.send(saying());
    await session.end();
    expect(of(events, 'final')[0]?.text).toBe('goodbye');
    expect(events.at(-1)).toEqual({ type: 'closed', error: undefined });
  });
});

describe('synthesis', () => {
  /** What the scripted engine makes for "Good morning." */
  const GREETING_MS = 260;

  async function spoken({ vendor }: World, request: Partial<SynthesisRequest> = {}): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    const asked = { text: 'Good morning.', voice: 'shubh', language: 'hi', ...request };
    for await (const chunk of vendor.synthesizer?.speak(asked, new AbortController().signal) ?? []) chunks.push(chunk);
    return chunks;
  }

  const formats: AudioFormat[] = [
    TELEPHONE_FORMAT,
    { encoding: 'alaw', rateHz: 8_000 },
    { encoding: 'pcm16', rateHz: 8_000 },
    { encoding: 'pcm16', rateHz: 16_000 },
    { encoding: 'pcm16', rateHz: 48_000 },
  ];
  test.each(formats)('gives $encoding at $rateHz Hz, in whole samples, whatever the service makes', async (format) => {
    for (const sendsWav of [false, true]) {
      await using world = await startWorld({ sendsWav, chunkBytes: 333 });
      const chunks = await spoken(world, { format });
      expect(durationMs(format, Buffer.concat(chunks).length)).toBeCloseTo(GREETING_MS, 0);
      for (const chunk of chunks) expect(chunk.length % (format.encoding === 'pcm16' ? 2 : 1)).toBe(0);
      const pcm = joinSamples(chunks.map((chunk) => decodeAudio(format.encoding, chunk)));
      expect(rmsLevelDb(pcm)).toBeCloseTo(rmsLevelDb(sine(440, GREETING_MS, format.rateHz)), 0);
    }
  });

  it('asks for what the request says, and speaks the next sentence over the same socket', async () => {
    await using world = await startWorld();
    await spoken(world, { speed: 1.2, language: 'or-IN', voice: 'Ritu' });
    await spoken(world, { speed: 9 });
    const [socket, ...others] = world.server.sockets;
    expect(others).toEqual([]);
    expect(Object.fromEntries(socket?.url.searchParams ?? [])).toEqual({ model: 'bulbul:v3', send_completion_event: 'true' });
    expect(socket?.events).toMatchObject([
      {
        type: 'config',
        data: { language_code: 'od-IN', speaker: 'ritu', pace: 1.2, speech_sample_rate: 8_000, output_audio_codec: 'mulaw' },
      },
      { type: 'text', data: { text: 'Good morning.' } },
      { type: 'flush' },
      { type: 'config', data: { language_code: 'hi-IN', speaker: 'shubh', pace: 2 } },
      { type: 'text' },
      { type: 'flush' },
    ]);
  });

  it('closes the socket of a sentence that nobody listens to any more', async () => {
    await using world = await startWorld({ fault: ({ event }) => (event === 'flush' ? 'stall' : undefined) });
    const bargeIn = new AbortController();
    const speaking = (async () => {
      const request = { text: 'Hello. '.repeat(40), voice: 'shubh', language: 'en' };
      for await (const _chunk of world.vendor.synthesizer?.speak(request, bargeIn.signal) ?? [])
        bargeIn.abort(new Error('barge-in'));
    })();
    await expect(speaking).rejects.toThrow('barge-in');
    await expect.poll(() => world.server.sockets[0]?.closed).toBe(1000);
  });

  it('speaks over another socket when the idle one has died', async () => {
    await using world = await startWorld({
      fault: ({ socket, event, count }) => (socket === 0 && event === 'config' && count === 1 ? 'terminate' : undefined),
    });
    await spoken(world);
    expect(Buffer.concat(await spoken(world)).length / 8).toBeCloseTo(GREETING_MS, 0);
    expect(world.server.sockets).toHaveLength(2);
  });

  it('opens a socket ahead of the first sentence', async () => {
    await using world = await startWorld();
    world.vendor.warm?.();
    await expect.poll(() => world.server.sockets.length).toBe(1);
    // The client's end is open a moment after the server's.
    await expect.poll(async () => (await spoken(world)).length).toBeGreaterThan(0);
  });

  test.each([
    ['a wrong key', { refuse: () => ({ status: 403 }) }, {}, 'OFFHOOK_SPEECH_AUTH'],
    ['a limit', { refuse: () => ({ status: 429, headers: { 'retry-after': '60' } }) }, {}, 'OFFHOOK_SPEECH_BUSY'],
    ['a speaker of another model', {}, { voice: 'anushka' }, 'OFFHOOK_SPEECH_REQUEST'],
    ['a service that fails', { fault: () => ({ close: 1011, reason: 'internal' }) }, {}, 'OFFHOOK_SPEECH_UNAVAILABLE'],
    [
      'an error of the service',
      { fault: () => ({ say: JSON.stringify({ type: 'error', data: { message: 'sorry', code: 500 } }) }) },
      {},
      'OFFHOOK_SPEECH_UNAVAILABLE',
    ],
    ['a message that is none', { fault: () => ({ say: '<html>' }) }, {}, 'OFFHOOK_SPEECH_PROTOCOL'],
    [
      'a text in the place of audio',
      {
        fault: () => ({
          say: JSON.stringify({ type: 'audio', data: { audio: Buffer.from('the model is loading').toString('base64') } }),
        }),
      },
      {},
      'OFFHOOK_SPEECH_PROTOCOL',
    ],
    [
      'a completion without audio',
      { fault: () => ({ say: JSON.stringify({ type: 'event', data: { event_type: 'final' } }) }) },
      {},
      'OFFHOOK_SPEECH_FAILED',
    ],
  ] as const)('fails with a typed error for %s', async (_fault, options: Options, request, code) => {
    await using world = await startWorld(options);
    const failure = await spoken(world, request).then(
      () => new Error('it did not fail'),
      (error: unknown) => error as Error,
    );
    expect(failure).toMatchObject({ code });
    expect(`${failure.message} ${JSON.stringify(failure)}`).not.toContain(KEY);
  });
});
