import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { activeLevelDb } from '../../../src/audio/level.ts';
import { type ClipFormat, decodeClip } from '../../../src/platform/server/tts/speech-attachments.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';

/** What the tone engine makes of twelve characters: 0.8 s, of which 0.6 s are a tone of -13.5 dB. */
const [seconds, levelDb] = [0.8, -13.5];
const formats = [
  ['pcm', 'audio/pcm', 24_000],
  ['wav', 'audio/wav', 24_000],
  ['mp3', 'audio/mpeg', 24_000],
  ['ogg_opus', 'audio/ogg', 24_000],
  ['flac', 'audio/flac', 24_000],
  ['mulaw', 'audio/basic', 8000],
  ['alaw', 'audio/x-alaw-basic', 8000],
] as const;
const containers: Readonly<Record<string, ClipFormat>> = { wav: 'wav', mp3: 'mp3', ogg_opus: 'ogg', flac: 'flac' };

describe('every format', () => {
  let test: TestPlatform;
  beforeAll(async () => {
    test = await startTestPlatform();
  });
  afterAll(async () => {
    await test[Symbol.asyncDispose]();
  });

  async function speak(response_format: string, path = '/v1/audio/speech') {
    const response = await test.post(`${test.platform.ttsUrl}${path}`, {
      model: 'zero-indic',
      target_text: 'hello caller',
      speaker_id: 'Nisha',
      response_format,
    });
    expect(response.status).toBe(200);
    return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
  }

  it.each(formats)('%s is %s at %d Hz and decodes to the same length and level [158]', async (name, mime, rate) => {
    const { headers, bytes } = await speak(name, '/tts');
    expect([headers.get('content-type'), headers.get('x-sample-rate')]).toEqual([mime, String(rate)]);
    const container = containers[name];
    const { pcm, rateHz } =
      container === undefined
        ? { pcm: decodeAudio(name === 'pcm' ? 'pcm16' : (name as 'mulaw'), bytes), rateHz: rate }
        : await decodeClip(bytes, [container]);
    expect(rateHz).toBe(rate);
    // MP3 has no place for the exact length: its frames of 24 ms are padded at both ends.
    expect(Math.abs(pcm.length / rateHz - seconds)).toBeLessThan(name === 'mp3' ? 0.08 : 0.001);
    expect(activeLevelDb(pcm, rateHz)).toBeCloseTo(levelDb, -0.5);
  });

  it.each(formats)('%s streams in chunks that join to such a file', async (name, _, rate) => {
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, {
      authorization: `Bearer ${await test.token()}`,
    });
    socket.json({ model: 'zero-indic', input: 'hello caller', voice: 'Nisha', response_format: name });
    await socket.until(() => socket.of('completion').length === 1);
    const chunks = socket.of('chunk');
    expect(chunks.map((chunk) => chunk['is_final'])).toEqual(chunks.map((_chunk, index) => index === chunks.length - 1));
    expect(socket.audio).toHaveLength(chunks.length);
    for (const { bytes } of socket.audio) expect(bytes.length).toBeGreaterThan(0);
    const [completion] = socket.of('completion');
    expect(completion).toMatchObject({
      total_chunks: chunks.length,
      total_duration_seconds: expect.closeTo(seconds, 3),
      sample_rate: rate,
    });
    const bytes = Buffer.concat(socket.audio.map((frame) => frame.bytes));
    const container = containers[name];
    const { pcm, rateHz } =
      container === undefined
        ? { pcm: decodeAudio(name === 'pcm' ? 'pcm16' : (name as 'mulaw'), bytes), rateHz: rate }
        : await decodeClip(bytes, [container]);
    expect(Math.abs(pcm.length / rateHz - seconds)).toBeLessThan(name === 'mp3' ? 0.08 : 0.001);
  });
});
