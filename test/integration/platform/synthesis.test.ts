import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { sine } from '../../../src/audio/tone.ts';
import { SynthesisRefusedError, SynthesisUnavailableError } from '../../../src/platform/engines/synth/port.ts';
import { startTestPlatform, testPlatform, type TestPlatform } from './setup.ts';
import { ToneRecogniser, ToneSynthesizer } from './tone-engines.ts';

const request = { model: 'zero-indic', input: 'hello caller', voice: 'Rajesh' };

async function speak(test: TestPlatform, body: unknown, path = '/v1/audio/speech') {
  const response = await test.post(`${test.platform.ttsUrl}${path}`, body);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const detail = () => (JSON.parse(Buffer.from(bytes).toString('utf8')) as { detail: string & { loc: string[] }[] }).detail;
  return { status: response.status, headers: response.headers, bytes, detail };
}

/** Speaks a second of sound, waits until it may go on, and speaks another. */
class HaltingSynthesizer extends ToneSynthesizer {
  readonly #gate = new EventEmitter();

  goOn(error?: Error): void {
    this.#gate.emit('open', error);
  }

  override async *synthesize() {
    const second = { pcm: Int16Array.from(sine(440, 1_000, 22_050)), rateHz: 22_050 };
    yield second;
    const [error] = (await once(this.#gate, 'open')) as [Error | undefined];
    if (error !== undefined) throw error;
    yield second;
  }
}

describe('a long text', () => {
  const synthesis = new HaltingSynthesizer();
  const test = testPlatform({ engines: { recognition: new ToneRecogniser(), synthesis } });

  const ask = async (response_format: string): Promise<Response> =>
    test.post(`${test.platform.ttsUrl}/v1/audio/speech`, { ...request, input: 'a'.repeat(501), response_format });

  it.each([
    { format: 'mulaw', bytes: 16_000 },
    { format: 'alaw', bytes: 16_000 },
    { format: 'pcm', bytes: 96_000 },
    { format: 'mp3', bytes: 12_000 },
  ])('is heard from its first sentence on, before the last is made: $format', async ({ format, bytes }) => {
    const answer = await ask(format);
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null]);
    const parts = answer.body![Symbol.asyncIterator]();
    let read = ((await parts.next()).value as Uint8Array).length;
    expect(read).toBeGreaterThan(100);
    synthesis.goOn();
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) read += next.value.length;
    expect(read / bytes).toBeCloseTo(1, 1);
  });

  it('is no whole answer when a later sentence fails', async () => {
    const answer = await ask('mulaw');
    synthesis.goOn(new SynthesisUnavailableError('gone'));
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });
});

describe('batch synthesis', () => {
  const test = testPlatform();

  it('answers MP3 with its rate and a request id by default [156]', async () => {
    const { status, headers, bytes } = await speak(test, request);
    expect([status, headers.get('content-type'), headers.get('x-sample-rate')]).toEqual([200, 'audio/mpeg', '24000']);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    // A frame header of MPEG-2 layer III: eleven set bits, version 10, layer 01.
    expect([bytes[0], bytes[1]! & 0xfe]).toEqual([0xff, 0xf2]);
    expect(bytes.length).toBeGreaterThan(4000);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])(
    'refuses a body of type %s with a 400 that names the type it takes',
    async (type) => {
      const headers = { authorization: `Bearer ${await test.token()}`, 'content-type': type };
      const answer = await fetch(`${test.platform.ttsUrl}/tts`, { method: 'POST', headers, body: JSON.stringify(request) });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { detail: 'The body must be JSON: Content-Type: application/json' },
      ]);
    },
  );

  it('is the same at /v1/audio/speech, /tts and /, and GET / is not synthesis [157]', async () => {
    const asked = { ...request, response_format: 'pcm' };
    const answers = await Promise.all(['/v1/audio/speech', '/tts', '/'].map((path) => speak(test, asked, path)));
    for (const { bytes } of answers) expect(bytes).toEqual(answers[0]!.bytes);
    expect((await fetch(`${test.platform.ttsUrl}/`)).status).toBe(405);
  });

  it.each(['opus', 'aac', 'MP3', ''])('refuses the unknown format %j with 400 [159]', async (response_format) => {
    const { status, detail } = await speak(test, { ...request, response_format });
    expect([status, detail()]).toEqual([400, expect.stringContaining('response_format')]);
  });

  it('names the missing field with 400, and answers an unknown voice with 422 [160]', async () => {
    for (const field of ['model', 'input', 'voice'] as const) {
      const { [field]: _left, ...rest } = request;
      const { status, detail } = await speak(test, rest);
      expect([status, detail()]).toEqual([400, expect.stringContaining(field)]);
    }
    const { status, detail } = await speak(test, { ...request, voice: 'Nobody' });
    expect([status, detail()[0]!.loc]).toEqual([422, ['body', 'voice']]);
    expect((await speak(test, { ...request, model: 'tts-1' })).status).toBe(400);
  });

  it('counts code points: 1 to 10,000, and something to speak [161]', async () => {
    const status = async (input: string) => (await speak(test, { ...request, input, response_format: 'mulaw' })).status;
    expect(await status('a')).toBe(200);
    expect(await status('😀'.repeat(10_000))).toBe(200);
    expect(await status('')).toBe(400);
    expect(await status('a'.repeat(10_001))).toBe(400);
    expect(await status('😀'.repeat(10_001))).toBe(400);
    expect(await status(' \n\t')).toBe(422);
  });

  it('takes speeds of 0.25 to 4 and scales the length inversely within 5 % [162]', async () => {
    const seconds = async (speed: number) => {
      const input = 'a sentence of forty characters, just so!';
      const { bytes } = await speak(test, { ...request, input, speed, trim_silence: true, response_format: 'pcm' });
      return bytes.length / 48_000;
    };
    const plain = await seconds(1);
    for (const speed of [0.25, 0.5, 2, 4]) expect(Math.abs((await seconds(speed)) * speed - plain) / plain).toBeLessThan(0.05);
    for (const speed of [0.24, 4.01, '1', null]) {
      expect((await speak(test, { ...request, speed, response_format: 'pcm' })).status).toBe(speed === null ? 200 : 400);
    }
  });

  it('trims silence below -40 dB at both ends [163]', async () => {
    const { bytes } = await speak(test, { ...request, trim_silence: true, response_format: 'pcm' });
    const pcm = decodeAudio('pcm16', bytes);
    expect(pcm.length / 24_000).toBeCloseTo(0.6, 2);
    expect(Math.abs(pcm[0]!)).toBeGreaterThanOrEqual(327);
    expect(Math.abs(pcm.at(-1)!)).toBeGreaterThanOrEqual(327);
  });

  it('takes target_text and speaker_id as other names, and refuses two values [169]', async () => {
    const { input: target_text, voice: speaker_id, model } = request;
    expect((await speak(test, { model, target_text, speaker_id }, '/tts')).status).toBe(200);
    expect((await speak(test, { ...request, target_text, speaker_id })).status).toBe(200);
    expect((await speak(test, { ...request, target_text: 'other' })).status).toBe(400);
    expect((await speak(test, { ...request, speaker_id: 'Nisha' })).status).toBe(400);
  });

  it('passes the language on and refuses an unknown one with 422', async () => {
    await speak(test, { ...request, language: 'Marathi', response_format: 'pcm' });
    expect(test.synthesis.requests.at(-1)).toMatchObject({ language: 'mr', priority: 'batch' });
    expect((await speak(test, { ...request, language: 'klingon' })).status).toBe(422);
  });

  it.each(['{', '[]', '"text"', 'null', '{"input":5}', '{"speed":"fast"}'])(
    'refuses the body %s with 400 and a detail',
    async (body) => {
      const { status, detail, headers } = await speak(test, body);
      expect([status, typeof detail()]).toEqual([400, 'string']);
      expect(headers.get('x-request-id')).not.toBeNull();
    },
  );

  it('refuses a body over the limit with 413', async () => {
    const { status } = await speak(test, { ...request, reference_text: 'x'.repeat(5 * 1024 * 1024) });
    expect(status).toBe(413);
  });

  it('answers 422 for a text the engine cannot speak, 503 when it is down, 500 for anything else', async () => {
    const cases = [
      [new SynthesisRefusedError('no letters for this script'), 422],
      [new SynthesisUnavailableError('process died'), 503],
      [new Error('secret internals'), 500],
    ] as const;
    for (const [error, wanted] of cases) {
      test.synthesis.failAfter = { chunks: 1, error };
      const { status, detail } = await speak(test, request);
      expect([status, detail()]).toEqual([wanted, expect.not.stringContaining('secret')]);
    }
    test.synthesis.failAfter = undefined;
  });

  it('answers 504 past its window and stops the engine [170]', async () => {
    await using slow = await startTestPlatform({ limits: { batchMs: 40 } });
    slow.synthesis.hangAfter = 2;
    expect((await speak(slow, request)).status).toBe(504);
    await expect.poll(() => slow.synthesis.running).toBe(0);
  });

  it('stops the engine when the client goes away', async () => {
    await using slow = await startTestPlatform();
    slow.synthesis.hangAfter = 2;
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${await slow.token()}`, 'content-type': 'application/json' };
    const asked = fetch(`${slow.platform.ttsUrl}/tts`, {
      method: 'POST',
      headers,
      body: JSON.stringify(request),
      signal: leaving.signal,
    });
    await expect.poll(() => slow.synthesis.running).toBe(1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => slow.synthesis.running).toBe(0);
  });
});
