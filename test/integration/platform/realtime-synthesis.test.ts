import { describe, expect, it } from 'vitest';
import { startTestPlatform, testPlatform, type Json, TestSocket } from './setup.ts';

const request = { model: 'zero-indic', input: 'hello caller, how are you?', voice: 'Rajesh' };

describe('realtime synthesis', () => {
  const test = testPlatform();

  const open = async (query = '', path = '/v1/realtime') =>
    TestSocket.open(`${test.platform.ttsUrl}${path}${query}`, { authorization: `Bearer ${await test.token()}` });
  const completed = (socket: TestSocket, count = 1) => socket.until(() => socket.of('completion').length === count);
  const audioOf = (socket: TestSocket) => Buffer.concat(socket.audio.map(({ bytes }) => bytes));

  it('answers one message with pairs of chunk and audio, then a completion [176]', async () => {
    await using socket = await open();
    socket.json(request);
    await completed(socket);
    const chunks = socket.of('chunk');
    const id = chunks[0]!['request_id'];
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks).toEqual(
      chunks.map((_, index) => ({
        type: 'chunk',
        request_id: id,
        chunk_index: index,
        is_final: index === chunks.length - 1,
        format: 'pcm',
        sample_rate: 24_000,
      })),
    );
    expect(socket.audio.map(({ after }) => after)).toEqual(chunks.map((_, index) => index + 1));
    expect(socket.events.at(-1)).toEqual({
      type: 'completion',
      request_id: id,
      status: 'complete',
      total_chunks: chunks.length,
      total_duration_seconds: expect.any(Number),
      format: 'pcm',
      sample_rate: 24_000,
    });
  });

  it('keeps the first chunk short and the others between 100 and 200 ms', async () => {
    await using socket = await open();
    socket.json({ ...request, response_format: 'mulaw' });
    await completed(socket);
    const lengths = socket.audio.map(({ bytes }) => bytes.length / 8);
    expect(lengths[0]).toBeLessThanOrEqual(100);
    for (const ms of lengths.slice(1, -1)) expect(ms).toBeGreaterThanOrEqual(100);
    for (const ms of lengths) expect(ms).toBeLessThanOrEqual(200);
    expect(socket.of('chunk')[0]).toMatchObject({ format: 'mulaw', sample_rate: 8000 });
  });

  it('gives the same audio for settings in the query, in a config message and in the full message [177]', async () => {
    const { input, ...settings } = { ...request, speed: 1.5, response_format: 'mulaw' };
    await using full = await open();
    full.json({ ...settings, input });
    await using byConfig = await open();
    byConfig.json({ type: 'config', ...settings });
    byConfig.json({ input });
    await using byQuery = await open('?model=zero-indic&voice=Rajesh&speed=1.5&encoding=mulaw');
    byQuery.json({ input });
    await Promise.all([full, byConfig, byQuery].map((socket) => completed(socket)));
    expect(audioOf(full).length).toBeGreaterThan(4000);
    expect(audioOf(byConfig)).toEqual(audioOf(full));
    expect(audioOf(byQuery)).toEqual(audioOf(full));
  });

  it('takes encoding=pcm in the query as response_format, which is the default here [178]', async () => {
    const heads: Json[] = [];
    for (const query of ['', '?encoding=pcm', '?response_format=pcm']) {
      await using socket = await open(query);
      socket.json(request);
      await completed(socket);
      heads.push(socket.of('chunk')[0]!);
    }
    for (const head of heads) expect(head).toMatchObject({ format: 'pcm', sample_rate: 24_000 });
  });

  it('counts the duration as its bytes say [179]', async () => {
    await using socket = await open();
    socket.json(request);
    await completed(socket);
    expect(socket.of('completion')[0]!['total_duration_seconds']).toBeCloseTo(audioOf(socket).length / 48_000, 3);
  });

  it('completes two syntheses one after another under two ids [180]', async () => {
    await using socket = await open();
    socket.json(request);
    socket.json({ ...request, input: 'goodbye' });
    await completed(socket, 2);
    const ids = socket.of('completion').map((event) => event['request_id']);
    expect(new Set(ids).size).toBe(2);
    // Nothing of the second comes before the first is complete.
    const first = socket.events.findIndex(({ type }) => type === 'completion');
    expect(socket.events.slice(0, first + 1).every((event) => event['request_id'] === ids[0])).toBe(true);
    expect(socket.events.slice(first + 1).every((event) => event['request_id'] === ids[1])).toBe(true);
  });

  it.each([
    ['no voice', { model: 'zero-indic', input: 'x' }],
    ['over-long input', { ...request, input: 'a'.repeat(10_001) }],
    ['a language that is not Indic', { ...request, language: 'fr' }],
    ['a format that is not offered', { ...request, response_format: 'opus' }],
    ['a number for text', { ...request, input: 5 }],
    ['a list', []],
  ])('answers %s with an error, no completion, and closes [181]', async (_name, message) => {
    await using socket = await open();
    socket.json(message);
    const { code } = await socket.untilClosed();
    expect(code).toBe(1008);
    expect(socket.events).toEqual([{ type: 'error', request_id: expect.any(String), error: expect.any(String) }]);
  });

  it.each([
    ['ping', /unknown message type "ping"/],
    ['flush', /unknown message type "flush"/],
    [5, /unknown message type 5/],
  ])('answers a message of type %j without a text with an error that names the type', async (type, told) => {
    await using socket = await open('?model=zero-indic&voice=Rajesh');
    socket.json({ type });
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')[0]!['error']).toMatch(told);
    expect(socket.of('error')[0]!['error']).toMatch(/config/);
  });

  it('speaks the text of a config message', async () => {
    await using socket = await open();
    socket.json({ type: 'config', ...request });
    await completed(socket);
    socket.json({ input: 'and again' });
    await completed(socket, 2);
    expect(test.synthesis.requests.at(-1)).toMatchObject({ text: 'and again', priority: 'live' });
  });

  it.each([
    ['model', { model: 'tts-9' }, /^model: must be zero-indic/],
    ['voice', { voice: 'Nobody' }, /voice: unknown voice/],
    ['language', { language: 'fr' }, /language: streaming serves/],
    ['response_format', { response_format: 'opus' }, /^response_format: must be one of/],
    ['background_audio', { background_audio: '?' }, /^background_audio: must be/],
  ])('refuses a wrong %s in a config message at once', async (_field, settings, told) => {
    await using socket = await open();
    socket.json({ type: 'config', ...settings });
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')[0]!['error']).toMatch(told);
  });

  it.each(['trim_silence=maybe', 'latex=2'])('refuses %s in the query with the values that are accepted', async (query) => {
    await using socket = await open(`?${query}`);
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')[0]!['error']).toMatch(/^(trim_silence|latex): must be true or false$/);
  });

  it.each([
    ['Russian', { input: 'Добрый день' }],
    ['Russian asked for as Hindi', { input: 'Добрый день', language: 'hi' }],
    ['a Japanese sentence among English ones', { input: 'Good morning to all of you. おはようございます! How are you?' }],
  ])('refuses to stream %s, which the document leaves to batch [181]', async (_name, fields) => {
    await using socket = await open();
    const before = test.synthesis.requests.length;
    socket.json({ ...request, ...fields });
    expect((await socket.untilClosed()).code).toBe(1008);
    expect(socket.of('error')[0]!['error']).toMatch(/^input: streaming serves the Indic languages and English only/);
    expect(test.synthesis.requests.length).toBe(before);
  });

  it.each(['नमस्ते जी', 'سلام', 'வணக்கம்', 'Hello', '12:30', 'ꯈꯨꯔꯨꯝꯖꯔꯤ', 'ᱡᱚᱦᱟᱨ'])('streams %s', async (input) => {
    await using socket = await open();
    socket.json({ ...request, input });
    await completed(socket);
    expect(socket.audio).not.toEqual([]);
  });

  it('refuses text that is not JSON, and binary', async () => {
    for (const message of ['hello', Buffer.from([1, 2])]) {
      await using socket = await open();
      socket.socket.send(message);
      expect((await socket.untilClosed()).code).toBe(1008);
      expect(socket.of('error')).toHaveLength(1);
    }
  });

  it('is the same at /ws [184]', async () => {
    await using one = await open('', '/ws');
    await using two = await open();
    one.json(request);
    two.json(request);
    await Promise.all([completed(one), completed(two)]);
    expect(audioOf(one)).toEqual(audioOf(two));
  });

  it('reports a failure after some chunks as an error instead of a completion, then closes [182]', async () => {
    await using failing = await startTestPlatform();
    failing.synthesis.failAfter = { chunks: 8, error: new Error('engine fell over') };
    await using socket = await TestSocket.open(`${failing.platform.ttsUrl}/ws?token=${await failing.token()}`);
    socket.json({ ...request, input: 'a long text that makes many chunks' });
    await socket.untilClosed();
    const types = socket.events.map(({ type }) => type);
    expect(types.slice(0, -1).every((type) => type === 'chunk')).toBe(true);
    expect(types.length).toBeGreaterThan(2);
    expect(socket.events.at(-1)).toEqual({
      type: 'error',
      request_id: socket.events[0]!['request_id'],
      error: 'Internal server error',
    });
  });

  it('gives up on a chunk that does not come in time [183]', async () => {
    await using slow = await startTestPlatform({ limits: { chunkMs: 40 } });
    slow.synthesis.hangAfter = 1;
    await using socket = await TestSocket.open(`${slow.platform.ttsUrl}/ws?token=${await slow.token()}`);
    socket.json(request);
    await socket.untilClosed();
    expect(socket.of('error')[0]!['error']).toContain('0.04 s');
    await expect.poll(() => slow.synthesis.running).toBe(0);
  });

  it('stops the engine when the socket closes, and frees the slot', async () => {
    await using slow = await startTestPlatform({ limits: { concurrentPerKey: 1 } });
    slow.synthesis.hangAfter = 3;
    const url = `${slow.platform.ttsUrl}/ws?token=${await slow.token()}`;
    const socket = await TestSocket.open(url);
    socket.json(request);
    await expect.poll(() => slow.synthesis.running).toBe(1);
    await using refused = await TestSocket.open(url);
    refused.json(request);
    expect(await refused.untilClosed()).toMatchObject({ code: 1008, reason: expect.stringContaining('Rate limit') });
    socket.socket.terminate();
    await expect.poll(() => slow.synthesis.running).toBe(0);
    slow.synthesis.hangAfter = undefined;
    await using next = await TestSocket.open(url);
    next.json(request);
    await next.until(() => next.of('completion').length === 1);
  });

  it('closes open sockets with 1001 when the platform stops', async () => {
    const stopping = await startTestPlatform();
    const socket = await TestSocket.open(`${stopping.platform.ttsUrl}/ws?token=${await stopping.token()}`);
    await stopping[Symbol.asyncDispose]();
    expect((await socket.untilClosed()).code).toBe(1001);
  });
});
