import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeAudio } from '../../../src/audio/codec.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';
import { sayTones } from './tone-engines.ts';

const file = wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000);

describe('Variant B', () => {
  let test: TestPlatform;
  const web = createServer((_request, response) => response.end(file));
  let host = '';
  beforeAll(async () => {
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    host = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    test = await startTestPlatform({ audioHosts: [host] });
  });
  afterAll(async () => {
    await test[Symbol.asyncDispose]();
    web.closeAllConnections();
    web.close();
  });

  const post = async (body: string | FormData, headers: Record<string, string> = { 'content-type': 'application/json' }) => {
    const response = await fetch(`${test.platform.asrAltUrl}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${test.platform.apiKey}`, ...headers },
      body,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const refused = { success: false, error: { code: 'invalid_request', message: expect.any(String) } };

  it('takes a JSON body with model and url, and says success [85]', async () => {
    const url = `http://${host}/a.wav`;
    expect(await post(JSON.stringify({ model: 'zero-indic', url }))).toEqual({
      status: 200,
      body: { success: true, text: 'alpha bravo' },
    });
    const verbose = await post(JSON.stringify({ url, response_format: 'verbose_json', num_speakers: 2 }));
    expect(verbose.body).toMatchObject({ success: true, text: 'alpha bravo', audio_duration: 1 });
    const primary = await test.post(`${test.platform.asrUrl}/v1/audio/transcriptions`, { model: 'zero-indic', url });
    expect(primary.status).toBe(400);
  });

  it('takes a multipart body too, and base64 in JSON', async () => {
    const form = new FormData();
    form.append('file', new Blob([Buffer.from(file)]), 'a.wav');
    expect((await post(form, {})).body).toEqual({ success: true, text: 'alpha bravo' });
    expect((await post(JSON.stringify({ audio_base64: Buffer.from(file).toString('base64') }))).body).toEqual({
      success: true,
      text: 'alpha bravo',
    });
  });

  it.each([
    '',
    'hello',
    '[]',
    '"x"',
    'null',
    '{}',
    '{"url":"https://127.0.0.1/"}',
    '{"url":5}',
    '{"url":"x","audio_base64":"eA=="}',
  ])('refuses the body %j in its own envelope', async (body) => {
    expect(await post(body)).toEqual({ status: 400, body: refused });
  });

  it('refuses a wrong field with 422 and a body of another type with 400, in its own envelope', async () => {
    const url = `http://${host}/a.wav`;
    expect(await post(JSON.stringify({ url, num_speakers: 'many' }))).toEqual({ status: 422, body: refused });
    expect(await post('x', { 'content-type': 'text/plain' })).toEqual({ status: 400, body: refused });
  });

  describe('at /ws', () => {
    const open = async (handshake: Record<string, unknown> = {}): Promise<TestSocket> => {
      const socket = await TestSocket.open(`${test.platform.asrAltUrl}/ws`);
      socket.json({ api_key: test.platform.apiKey, language: 'en', sample_rate: 8000, ...handshake });
      return socket;
    };
    const ready = async (handshake?: Record<string, unknown>): Promise<TestSocket> => {
      const socket = await open(handshake);
      await socket.until(() => socket.of('ready').length === 1);
      return socket;
    };
    const pcm = (words: Parameters<typeof sayTones>[0]): Int16Array =>
      Int16Array.from([...sayTones(words, 8000), ...new Int16Array(8000)]);

    it('ends segments at silences, and the connection with its whole text, in order', async () => {
      await using socket = await ready({ session_id: 'mine' });
      expect(socket.of('ready')).toEqual([{ type: 'ready', session_id: 'mine' }]);
      socket.pcm(pcm(['alpha', 'bravo']));
      await socket.until(() => socket.of('final_segment').length === 1);
      socket.pcm(pcm(['charlie']));
      await socket.until(() => socket.of('final_segment').length === 2);
      socket.text('END');
      expect((await socket.untilClosed()).code).toBe(1000);
      const types = socket.events.map(({ type }) => type).filter((type) => type !== 'partial');
      const segment = ['speech_start', 'speech_end', 'final_segment'];
      expect(types).toEqual(['ready', ...segment, ...segment, 'final', 'end_of_transcript', 'done']);
      expect(socket.of('final_segment')).toMatchObject([
        { text: 'alpha bravo', language: 'en', segment_id: 0, silence_duration_ms: 700, offset_ms: expect.any(Number) },
        { text: 'charlie', segment_id: 1 },
      ]);
      expect(socket.of('partial')[0]).toMatchObject({ text: 'alpha', segment_id: 0, is_final: false });
      expect(socket.of('final')[0]).toMatchObject({ text: 'alpha bravo charlie', audio_duration_sec: 3.6 });
      expect(socket.of('done')[0]).toMatchObject({ total_segments: 2, total_audio_duration_sec: 3.6 });
    });

    it.each([
      ['END', (socket: TestSocket) => socket.text('END')],
      ['a JSON message', (socket: TestSocket) => socket.json({ type: 'end' })],
      ['an empty frame', (socket: TestSocket) => socket.socket.send(Buffer.alloc(0))],
    ])('is ended by %s, in the middle of a segment too', async (_what, end) => {
      await using socket = await ready();
      socket.pcm(sayTones(['bravo'], 8000));
      end(socket);
      expect((await socket.untilClosed()).code).toBe(1000);
      expect(socket.of('final')[0]).toMatchObject({ text: 'bravo' });
    });

    const samples = pcm(['alpha']);
    const floats = Buffer.from(Float32Array.from(samples, (value) => value / 32_767).buffer);
    it.each([
      ['int16', Buffer.from(encodeAudio('pcm16', samples))],
      ['float32', floats],
      ['ulaw', Buffer.from(encodeAudio('mulaw', samples))],
      ['alaw', Buffer.from(encodeAudio('alaw', samples))],
    ])('hears %s, in frames split anywhere and in base64', async (dtype, bytes) => {
      await using socket = await ready({ dtype });
      socket.socket.send(bytes.subarray(0, 1001));
      socket.json({ type: 'frame', audio: bytes.subarray(1001).toString('base64'), sr: 8000, dtype, seq: 1 });
      socket.text('END');
      await socket.untilClosed();
      expect(socket.of('final')[0]).toMatchObject({ text: 'alpha', audio_duration_sec: samples.length / 8000 });
    });

    it('reads a WAV file by its header, not by the declared rate', async () => {
      await using socket = await ready();
      socket.socket.send(file);
      socket.text('END');
      await socket.untilClosed();
      expect(socket.of('final')[0]).toMatchObject({ text: 'alpha bravo' });
    });

    it('takes the key in the header as well, and refuses a wrong one with an error and 4001', async () => {
      await using socket = await TestSocket.open(`${test.platform.asrAltUrl}/ws`, {
        authorization: `Bearer ${test.platform.apiKey}`,
      });
      socket.json({ type: 'init' });
      await socket.until(() => socket.of('ready').length === 1);
      for (const api_key of ['wrong', undefined, await test.token()]) {
        await using other = await open({ api_key });
        expect((await other.untilClosed()).code).toBe(4001);
        expect(other.events).toEqual([{ type: 'error', code: 'AUTH_FAILED', message: expect.any(String) }]);
      }
    });

    it.each([
      ['text that is not JSON', 'hello'],
      ['JSON that is no object', '[]'],
      ['an odd rate', '{"sample_rate":100}'],
      ['an unknown language', '{"language":"klingon"}'],
      ['an unknown sample type', '{"dtype":"int8"}'],
    ])('refuses %s with PROTOCOL_ERROR and 1008', async (_what, text) => {
      await using socket = await TestSocket.open(`${test.platform.asrAltUrl}/ws`);
      socket.text(text);
      expect((await socket.untilClosed()).code).toBe(1008);
      expect(socket.events).toEqual([{ type: 'error', code: 'PROTOCOL_ERROR', message: expect.any(String) }]);
    });

    it('refuses audio before the handshake and other messages after it', async () => {
      await using early = await TestSocket.open(`${test.platform.asrAltUrl}/ws`);
      early.pcm(new Int16Array(160));
      expect((await early.untilClosed()).code).toBe(1008);
      await using late = await ready();
      late.text('commit');
      expect((await late.untilClosed()).code).toBe(1008);
      expect(late.of('error')[0]).toMatchObject({ code: 'PROTOCOL_ERROR' });
    });

    it('counts its sockets with the other requests of the key', async () => {
      await using small = await startTestPlatform({ limits: { concurrentPerKey: 1 } });
      const start = async (): Promise<TestSocket> => {
        const socket = await TestSocket.open(`${small.platform.asrAltUrl}/ws`);
        socket.json({ api_key: small.platform.apiKey });
        return socket;
      };
      await using first = await start();
      await first.until(() => first.of('ready').length === 1);
      await using second = await start();
      await second.untilClosed();
      expect(second.of('error')[0]).toMatchObject({ code: 'CAPACITY_FULL' });
    });
  });
});
