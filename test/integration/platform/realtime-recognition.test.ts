import { describe, expect, it } from 'vitest';
import { encodeAudio } from '../../../src/audio/codec.ts';
import { noise, seededRandom } from '../../../src/audio/tone.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startTestPlatform, testPlatform, TestSocket } from './setup.ts';
import { eventually } from '../../support/eventually.ts';
import { sayTones } from './tone-engines.ts';

const words = ['alpha', 'bravo'] as const;

describe('realtime recognition', () => {
  const test = testPlatform();

  const finals = (socket: TestSocket) => socket.of('final');
  const open = () => TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);

  it('answers a valid init with ready, and nothing before it [102]', async () => {
    await using socket = await open();
    socket.json({ token: await test.token(), language_code: 'en', sample_rate: 8000, diarize: true, num_speakers: 2 });
    await socket.until(() => socket.events.length > 0);
    expect(socket.events).toEqual([
      {
        type: 'ready',
        session_id: expect.any(String),
        language: 'en',
        sample_rate: 8000,
        diarize: true,
        num_speakers: 2,
        codeswitch: false,
      },
    ]);
  });

  it('says at ready that a listed language has no recogniser, and claims no language in its finals', async () => {
    await using socket = await open();
    socket.json({ token: await test.token(), language_code: 'ta', sample_rate: 8000 });
    await socket.until(() => socket.of('ready').length === 1);
    expect(socket.of('ready')).toMatchObject([
      { language: 'ta', warnings: [expect.stringContaining('No recogniser for Tamil')] },
    ]);
    socket.pcm(sayTones(words, 8000));
    socket.text('commit');
    await socket.until(() => finals(socket).length === 1);
    expect(finals(socket)[0]).toMatchObject({ text: '' });
    expect(finals(socket)[0]).not.toHaveProperty('language');
  });

  it('takes the token as api_key and the language as language [103]', async () => {
    await using socket = await open();
    socket.json({ api_key: await test.token(), language: 'Hindi' });
    await socket.until(() => socket.events.length > 0);
    expect(socket.events[0]).toMatchObject({ type: 'ready', language: 'hi', sample_rate: 16_000 });
  });

  it.each([
    ['text that is not JSON', () => 'hello', /JSON/],
    ['JSON that is not an object', () => '[1]', /object/],
    ['no token', () => JSON.stringify({ language_code: 'en' }), /token/],
    ['a bad token', () => JSON.stringify({ token: 'abc.def.ghi' }), /token/],
    ['an API key', () => JSON.stringify({ api_key: test.platform.apiKey }), /token/],
    ['a rate out of range [108]', async () => JSON.stringify({ token: await test.token(), sample_rate: 7999 }), /sample_rate/],
  ])('refuses %s as the first frame with an error event and 1008 [104]', async (_name, first, reason) => {
    await using socket = await open();
    socket.text(await first());
    const closed = await socket.untilClosed();
    expect(socket.events).toEqual([{ type: 'error', error: expect.stringMatching(reason) }]);
    expect(closed).toEqual({ code: 1008, reason: socket.events[0]!['error'] });
  });

  it('takes the token from the Authorization header of the handshake', async () => {
    await using socket = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`, {
      authorization: `Bearer ${await test.token()}`,
    });
    socket.json({ language_code: 'en' });
    await socket.until(() => socket.events.length > 0);
    expect(socket.events).toMatchObject([{ type: 'ready' }]);
  });

  it.each([
    ['a bad token', 'Bearer abc.def.ghi', 401],
    ['another scheme', 'Basic abc', 401],
    ['nothing', '', 401],
  ])('refuses the handshake whose Authorization header holds %s', async (_name, authorization, status) => {
    await expect(TestSocket.open(`${test.platform.asrUrl}/v1/realtime`, { authorization })).rejects.toThrow(String(status));
  });

  it('refuses a bad token in the frame behind a good header', async () => {
    await using socket = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`, {
      authorization: `Bearer ${await test.token()}`,
    });
    socket.json({ token: 'abc.def.ghi' });
    expect((await socket.untilClosed()).code).toBe(1008);
  });

  it('names both places of a token where there is none', async () => {
    await using socket = await open();
    socket.json({ language_code: 'en' });
    expect((await socket.untilClosed()).reason).toBe(
      'An access token is required: Authorization: Bearer <ACCESS_TOKEN> with the handshake, or token in the first frame',
    );
  });

  it.each([
    ['diarize', 'maybe'],
    ['codeswitch', 2],
  ])('refuses %s=%j with the values that are accepted', async (field, value) => {
    await using socket = await open();
    socket.json({ token: await test.token(), [field]: value });
    expect((await socket.untilClosed()).reason).toBe(`${field}: must be true or false`);
  });

  it('answers a message of unknown type with an error that names the type and what is accepted [116]', async () => {
    await using socket = await TestSocket.ready(test);
    socket.json({ type: 'ping' });
    const { code } = await socket.untilClosed();
    expect(code).toBe(1008);
    expect(socket.of('error')[0]!['error']).toBe('Unknown message type "ping": text frames after ready are commit or end');
  });

  it('refuses an expired token [104]', async () => {
    const { token } = await test.platform.tokens.mint('key_x', { lifeSeconds: -1 });
    await using socket = await open();
    socket.json({ token });
    const closed = await socket.untilClosed();
    expect(closed).toEqual({ code: 1008, reason: 'The access token has expired' });
    expect(Object.keys(socket.events[0]!)).toEqual(['type', 'error']);
  });

  it('gives an error event type and error only [106]', async () => {
    await using socket = await open();
    socket.text('x');
    await socket.untilClosed();
    expect(Object.keys(socket.of('error')[0]!).sort()).toEqual(['error', 'type']);
  });

  it('names every supported language in the event although the close reason is cut [200] [105]', async () => {
    await using socket = await open();
    socket.json({ token: await test.token(), language_code: 'क'.repeat(42) });
    const { code, reason } = await socket.untilClosed();
    const text = String(socket.of('error')[0]!['error']);
    expect(code).toBe(1008);
    expect(text).toContain(', hi,');
    expect(text).toMatch(/, zu$/);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(text.startsWith(reason)).toBe(true);
    expect(reason).not.toContain('\uFFFD');
  });

  it('ignores dtype, chunk_size_sec, inactivity_timeout, max_connection_duration and unknown fields [107]', async () => {
    await using socket = await TestSocket.ready(test, {
      dtype: 'float32',
      chunk_size_sec: 'x',
      inactivity_timeout: 0,
      max_connection_duration: 0,
      endpoint_silence_ms: 200,
      anything: [1],
    });
    socket.pcm(sayTones(words, 8000));
    socket.text('commit');
    await socket.until(() => finals(socket).length === 1);
    expect(finals(socket)[0]).toMatchObject({ text: 'alpha bravo' });
    expect(socket.closed).toBeUndefined();
  });

  it.each([8000, 16_000])('understands the same speech at %d Hz [108]', async (rate) => {
    await using socket = await TestSocket.ready(test, { sample_rate: rate });
    socket.pcm(sayTones(words, rate));
    socket.text('commit');
    await socket.until(() => finals(socket).length === 1);
    expect(finals(socket)[0]).toMatchObject({ text: 'alpha bravo' });
  });

  it('refuses audio before ready [109]', async () => {
    await using socket = await open();
    socket.pcm(sayTones(words, 8000));
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')).toHaveLength(1);
  });

  it('refuses audio sent behind the init without waiting for ready [109]', async () => {
    await using socket = await open();
    const token = await test.token();
    socket.json({ token });
    socket.pcm(sayTones(words, 8000));
    expect((await socket.untilClosed()).code).toBe(1008);
  });

  it.each([1, 3, 7, 319, 4001])('gives the same final for frames of %d bytes [110]', async (size) => {
    await using socket = await TestSocket.ready(test);
    const bytes = Buffer.from(encodeAudio('pcm16', sayTones(['charlie'], 8000)));
    for (let at = 0; at < bytes.length; at += size) socket.socket.send(bytes.subarray(at, at + size));
    socket.text('commit');
    await socket.until(() => finals(socket).length === 1);
    expect(finals(socket)[0]).toMatchObject({ text: 'charlie', start: 0.2, end: 0.5 });
  });

  it('sends partials that hold the whole segment, at least every 200 ms of speech; seg never falls [111]', async () => {
    await using socket = await TestSocket.ready(test);
    const said = ['alpha', 'bravo', 'charlie', 'alpha', 'bravo'] as const;
    const pcm = sayTones(said, 8000);
    for (let at = 0; at < pcm.length; at += 160) socket.pcm(pcm.slice(at, at + 160));
    socket.text('commit');
    socket.pcm(pcm);
    socket.text('end');
    await socket.untilClosed();
    const partials = socket.of('partial').filter((event) => event['seg'] === 0);
    // From the first recognised word (0.5 s) to the end of the last (2.1 s).
    expect(partials.length).toBeGreaterThanOrEqual(8);
    for (const { text } of partials) expect(said.join(' ').startsWith(String(text))).toBe(true);
    expect(partials.map(({ delta }) => delta).filter((delta) => delta !== '')).toEqual([...said]);
    const segs = socket.events.flatMap((event) => (typeof event['seg'] === 'number' ? [event['seg']] : []));
    expect(segs).toEqual(segs.toSorted((a, b) => a - b));
  });

  it('finalises on commit, keeps the socket, and starts a higher seg [112]', async () => {
    await using socket = await TestSocket.ready(test);
    for (const word of ['alpha', 'bravo'] as const) {
      const before = finals(socket).length;
      socket.pcm(sayTones([word], 8000));
      socket.text('commit');
      await socket.until(() => finals(socket).length > before);
    }
    expect(finals(socket)).toMatchObject([
      { seg: 0, text: 'alpha', end_of_utterance: true, language: 'en' },
      { seg: 1, text: 'bravo', end_of_utterance: true, language: 'en' },
    ]);
    expect(socket.closed).toBeUndefined();
  });

  it('answers a commit without audio with one empty final; three in a row are safe [113]', async () => {
    await using socket = await TestSocket.ready(test);
    for (let index = 0; index < 3; index += 1) socket.text('commit');
    await socket.until(() => finals(socket).length === 3);
    expect(finals(socket).map(({ seg, text }) => [seg, text].join(' '))).toEqual(['0 ', '1 ', '2 ']);
  });

  it('gives the finals on end, then closes with 1000 [114]', async () => {
    await using socket = await TestSocket.ready(test);
    socket.pcm(sayTones(words, 8000));
    socket.text('end');
    const { code } = await socket.untilClosed();
    expect(code).toBe(1000);
    expect(socket.events.at(-1)).toMatchObject({ type: 'final', text: 'alpha bravo', end_of_utterance: true });
  });

  it('closes cleanly on end directly after ready [115]', async () => {
    await using socket = await TestSocket.ready(test);
    socket.text('end');
    expect((await socket.untilClosed()).code).toBe(1000);
    expect(socket.events).toHaveLength(1);
  });

  it.each(['COMMIT', '{"type":"commit"}', '', 'commit\n'])('refuses the text frame %j [116]', async (text) => {
    await using socket = await TestSocket.ready(test);
    socket.text(text);
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')).toHaveLength(1);
  });

  it('puts a speaker on finals only when it diarizes [117]', async () => {
    for (const diarize of [true, false]) {
      await using socket = await TestSocket.ready(test, { diarize });
      socket.pcm(sayTones(words, 8000));
      socket.text('end');
      await socket.untilClosed();
      expect('speaker' in finals(socket)[0]!).toBe(diarize);
      if (diarize) expect(finals(socket)[0]!['speaker']).toBe('SPEAKER_00');
    }
  });

  it('refines each non-empty final once, after it and before the close, when codeswitch is on [118]', async () => {
    await using socket = await TestSocket.ready(test, { codeswitch: true });
    socket.pcm(sayTones(words, 8000));
    socket.text('commit');
    socket.text('commit');
    socket.text('end');
    await socket.untilClosed();
    const shown = socket.events.filter(({ type }) => type === 'final' || type === 'final_refined');
    expect(shown.map(({ type, seg, text }) => [type, seg, text])).toEqual([
      ['final', 0, 'alpha bravo'],
      ['final_refined', 0, 'Alpha bravo'],
      ['final', 1, ''],
    ]);
  });

  it('sends no refinement when codeswitch is off [118]', async () => {
    await using socket = await TestSocket.ready(test);
    socket.pcm(sayTones(words, 8000));
    socket.text('end');
    await socket.untilClosed();
    expect(socket.of('final_refined')).toHaveLength(0);
  });

  it('uses the first ten boost terms [119]', async () => {
    const terms = Array.from({ length: 12 }, (_, index) => `term ${index}`);
    await using socket = await TestSocket.ready(test, { boost_phrases: terms.join('||') });
    expect(test.recognition.opened.at(-1)!.boostPhrases).toEqual(terms.slice(0, 10));
    expect(socket.closed).toBeUndefined();
  });

  it('reads G.711 bytes as noise: no error and no words [121]', async () => {
    await using socket = await TestSocket.ready(test);
    socket.socket.send(Buffer.from(encodeAudio('mulaw', sayTones(words, 8000))));
    socket.text('commit');
    await socket.until(() => finals(socket).length === 1);
    expect(finals(socket)[0]!['text']).not.toContain('alpha');
    expect(socket.closed).toBeUndefined();
  });

  it('gives no words for noise', async () => {
    await using socket = await TestSocket.ready(test);
    socket.pcm(noise(1000, 8000, 0.3, seededRandom(1)));
    socket.text('commit');
    await socket.until(() => finals(socket).length === 1);
    expect(finals(socket)[0]!['text']).toBe('');
  });

  it('never mixes the events of two sessions [122]', async () => {
    await using one = await TestSocket.ready(test);
    await using two = await TestSocket.ready(test);
    one.pcm(sayTones(['alpha'], 8000));
    two.pcm(sayTones(['bravo'], 8000));
    one.text('end');
    two.text('end');
    await Promise.all([one.untilClosed(), two.untilClosed()]);
    expect(finals(one).map(({ text }) => text)).toEqual(['alpha']);
    expect(finals(two).map(({ text }) => text)).toEqual(['bravo']);
  });

  it('frees everything when a client disappears', async () => {
    const before = test.recognition.openStreams;
    const socket = await TestSocket.ready(test);
    socket.pcm(sayTones(words, 8000));
    socket.socket.terminate();
    await eventually(() => test.recognition.openStreams === before);
    expect(test.recognition.openStreams).toBe(before);
  });

  it('closes a socket whose message is over the limit with 1009', async () => {
    await using socket = await TestSocket.ready(test);
    socket.socket.send(Buffer.alloc(1024 * 1024 + 1));
    expect((await socket.untilClosed()).code).toBe(1009);
  });

  it('answers 426 to a plain GET and 404 to a socket elsewhere', async () => {
    const plain = await fetch(`${test.platform.asrUrl}/v1/realtime`);
    expect([plain.status, await plain.json()]).toEqual([426, { detail: expect.any(String) }]);
    await expect(TestSocket.open(`${test.platform.asrUrl}/v2/realtime`)).rejects.toThrow('404');
  });
});

describe('realtime recognition under small limits', () => {
  it('counts 16 sessions a key, refuses the next one, and frees a slot at once [123] [206]', async () => {
    await using test = await startTestPlatform();
    const sockets = await Promise.all(Array.from({ length: 16 }, () => TestSocket.ready(test)));
    await using next = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);
    next.json({ token: await test.token() });
    expect(await next.untilClosed()).toMatchObject({ code: 1008, reason: expect.stringContaining('16') });
    const health = await fetch(`${test.platform.asrUrl}/health`);
    expect(health.status).toBe(200);
    sockets[0]!.socket.terminate();
    await eventually(() => test.recognition.openStreams === 15);
    const after = await TestSocket.ready(test);
    for (const socket of [...sockets, after]) socket.socket.terminate();
  });

  it('ends a silent session with an error that names the limit, for any inactivity_timeout [120]', async () => {
    await using test = await startTestPlatform({ limits: { inactivityMs: 60 } });
    await using socket = await TestSocket.ready(test, { inactivity_timeout: 3600 });
    const { code } = await socket.untilClosed();
    expect(code).toBe(1008);
    expect(socket.events.at(-1)!['error']).toContain('inactivity');
    await eventually(() => test.recognition.openStreams === 0);
  });

  it('ends a long session although audio goes on [120]', async () => {
    await using test = await startTestPlatform({ limits: { sessionMs: 80 } });
    await using socket = await TestSocket.ready(test, { max_connection_duration: 3600 });
    socket.pcm(sayTones(words, 8000));
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.events.at(-1)!['error']).toContain('maximum');
  });

  it('closes a socket that never says who it is', async () => {
    await using test = await startTestPlatform({ limits: { initMs: 40 } });
    await using socket = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);
    expect((await socket.untilClosed()).code).toBe(1008);
  });

  it('tells the client when the recogniser fails', async () => {
    await using test = await startTestPlatform();
    test.recognition.failCommits = new Error('worker died');
    await using socket = await TestSocket.ready(test);
    socket.text('commit');
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')[0]!['error']).toContain('Recognition failed');
  });

  it.each([
    ['on a commit', 'failCommits'],
    ['when a stream is opened', 'failOpens'],
  ] as const)('keeps the own words of a recogniser that fails %s in the log', async (_name, failure) => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', stream: { write: (line: string) => void lines.push(line) } });
    await using test = await startTestPlatform({ logger });
    test.recognition[failure] = new Error('kaldi: no grammar hi+xx');
    for (const socket of [
      await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`),
      await TestSocket.open(`${test.platform.asrAltUrl}/ws`, { authorization: `Bearer ${test.platform.apiKey}` }),
    ]) {
      const alt = socket.socket.url.endsWith('/ws');
      socket.json(alt ? { language: 'en' } : { token: await test.token(), language_code: 'en' });
      if (failure === 'failCommits') {
        await socket.until(() => socket.of('ready').length === 1);
        socket.pcm(sayTones(words, 16_000));
        socket.text(alt ? 'END' : 'commit');
      }
      await socket.untilClosed();
      const told = JSON.stringify(socket.of('error')[0]);
      expect(told).toContain('Recognition failed: Internal server error');
      expect(told).not.toContain('kaldi');
      expect(lines.splice(0).join('')).toContain('kaldi: no grammar hi+xx');
    }
  });
});
