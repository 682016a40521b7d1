import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { startTestPlatform, testPlatform, type TestPlatform } from './setup.ts';
import { sayTones, type ToneWord } from './tone-engines.ts';

interface Span {
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
}
/** What the tests look at; the rest is compared as a whole. */
interface Body {
  readonly text: string;
  readonly request_id: string;
  readonly audio_duration: number;
  readonly detected_language: string;
  readonly detected_language_name: string;
  readonly words: Span[];
  readonly segments: Span[];
  readonly detail: string & { loc: string[] }[];
}
type Fields = Record<string, string | Uint8Array>;

async function transcribe(test: TestPlatform, fields: Fields, token?: string) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([Buffer.from(value)]), 'audio.wav');
  }
  const response = await fetch(`${test.platform.asrUrl}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token ?? (await test.token())}` },
    body: form,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

const wav = (words: readonly ToneWord[], rateHz = 16_000) => wavFile(sayTones(words, rateHz), rateHz);

describe('batch transcription', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-platform-'));
  const test = testPlatform({ dataDir });

  it('answers with text only, and the request id in a header [49]', async () => {
    const { status, body, headers } = await transcribe(test, { file: wav(['alpha', 'bravo']) });
    expect([status, body]).toEqual([200, { text: 'alpha bravo' }]);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers verbose_json with every field of the documents [50]', async () => {
    const { body } = await transcribe(test, { file: wav(['alpha', 'bravo']), response_format: 'verbose_json' });
    expect(body).toEqual({
      success: true,
      request_id: expect.any(String),
      text: 'alpha bravo',
      detected_language: 'en',
      detected_language_name: 'English',
      segments: [{ start: expect.closeTo(0.2, 1), end: expect.closeTo(0.9, 1), text: 'alpha bravo', confidence: 0.9 }],
      words: [
        { word: 'alpha', start: expect.closeTo(0.2, 1), end: expect.closeTo(0.5, 1), confidence: 0.9 },
        { word: 'bravo', start: expect.closeTo(0.6, 1), end: expect.closeTo(0.9, 1), confidence: 0.9 },
      ],
      nbest: [
        { text: 'alpha bravo', confidence: 0.9 },
        { text: 'alpha bravo maybe', confidence: 0.4 },
      ],
      audio_duration: 1,
      inference_time_ms: expect.any(Number),
    });
  });

  it('repeats the header in request_id, different for each call [51]', async () => {
    const calls = await Promise.all(
      [1, 2].map(() => transcribe(test, { file: wav(['alpha']), response_format: 'verbose_json' })),
    );
    for (const { body, headers } of calls) expect(body.request_id).toBe(headers.get('x-request-id'));
    expect(calls[0]!.body.request_id).not.toBe(calls[1]!.body.request_id);
  });

  it('takes exactly one of file and audio_base64', async () => {
    const file = wav(['alpha']);
    const audio_base64 = Buffer.from(file).toString('base64');
    expect((await transcribe(test, { audio_base64 })).body).toEqual({ text: 'alpha' });
    expect((await transcribe(test, { language: 'en' })).status).toBe(400);
    expect((await transcribe(test, { file, audio_base64 })).status).toBe(400);
    expect((await transcribe(test, { file, url: 'https://example.com/a.wav' })).status).toBe(400);
  });

  it('distinguishes invalid base64 (400) from base64 of other data (415), and accepts a data: prefix [198]', async () => {
    expect((await transcribe(test, { audio_base64: '!!!!' })).status).toBe(400);
    expect((await transcribe(test, { audio_base64: Buffer.from('hello there, this is text').toString('base64') })).status).toBe(
      415,
    );
    const audio_base64 = `data:audio/wav;base64,${Buffer.from(wav(['bravo'])).toString('base64')}`;
    expect((await transcribe(test, { audio_base64 })).body).toEqual({ text: 'bravo' });
  });

  it('refuses text, other containers and a truncated file with 415', async () => {
    const file = wav(['alpha']);
    const cases: Uint8Array[] = [
      Buffer.from('hello'),
      Buffer.alloc(0),
      Buffer.from('ID3 mp3'),
      Buffer.from('fLaC....'),
      file.slice(0, 2000),
      file.slice(0, 30),
    ];
    for (const bytes of cases) {
      const { status, body } = await transcribe(test, { file: bytes });
      expect([status, body]).toEqual([415, { detail: expect.any(String) }]);
    }
  });

  it.each([
    [8000, 1],
    [16_000, 2],
    [44_100, 1],
    [48_000, 2],
  ])('hears the same at %d Hz in %d channels, with the same duration within 20 ms [54]', async (rateHz, channels) => {
    const mono = sayTones(['alpha', 'charlie'], rateHz);
    const pcm = Int16Array.from({ length: mono.length * channels }, (_, index) => mono[Math.floor(index / channels)]!);
    const { body } = await transcribe(test, { file: wavFile(pcm, rateHz, channels), response_format: 'verbose_json' });
    expect(body.text).toBe('alpha charlie');
    expect(Math.abs(body.audio_duration - 1)).toBeLessThan(0.02);
    expect(body.words[1]!.start).toBeCloseTo(0.6, 1);
  });

  it('cuts long audio at silences and keeps times in place [196]', async () => {
    const silence = (seconds: number) => new Int16Array(16_000 * seconds);
    const pcm = Int16Array.from([
      ...silence(3),
      ...sayTones(['alpha'], 16_000),
      ...silence(5),
      ...sayTones(['bravo', 'charlie'], 16_000),
      ...silence(2),
    ]);
    const { body } = await transcribe(test, { file: wavFile(pcm, 16_000), response_format: 'verbose_json' });
    expect(body.text).toBe('alpha bravo charlie');
    expect(body.segments).toHaveLength(2);
    const starts = body.words.map(({ start }) => start);
    for (const [index, wanted] of [3.2, 8.8, 9.2].entries()) expect(Math.abs(starts[index]! - wanted)).toBeLessThan(0.06);
    for (const part of [...body.segments, ...body.words]) {
      expect(part.start).toBeLessThanOrEqual(part.end);
      expect(part.end).toBeLessThanOrEqual(body.audio_duration);
      expect(part.confidence).toBeGreaterThanOrEqual(0);
      expect(part.confidence).toBeLessThanOrEqual(1);
    }
  });

  it('counts silence as nothing said', async () => {
    expect((await transcribe(test, { file: wavFile(new Int16Array(32_000), 16_000) })).body).toEqual({ text: '' });
  });

  it('takes hi, HI, Hindi and auto; language is an alias that loses to language_code [59]', async () => {
    for (const language_code of ['hi', 'HI', 'Hindi', 'auto']) {
      expect((await transcribe(test, { file: wav(['alpha']), language_code })).status).toBe(200);
      expect(test.recognition.opened.at(-1)!.language).toBe(language_code === 'auto' ? 'auto' : 'hi');
    }
    await transcribe(test, { file: wav(['alpha']), language: 'hindi' });
    expect(test.recognition.opened.at(-1)!.language).toBe('hi');
    await transcribe(test, { file: wav(['alpha']), language: 'xx', language_code: 'en' });
    expect(test.recognition.opened.at(-1)!.language).toBe('en');
  });

  it('refuses an unsupported code with 400 naming the supported ones [60]', async () => {
    const { status, body } = await transcribe(test, { file: wav(['alpha']), language_code: 'klingon' });
    expect(status).toBe(400);
    expect(body.detail).toContain('hi');
    expect(body.detail).toContain('zu');
  });

  it('finds the language by itself, as a listed code and its name [61]', async () => {
    const { body } = await transcribe(test, { file: wav(['alpha']), response_format: 'verbose_json', language_code: 'auto' });
    expect([body.detected_language, body.detected_language_name]).toEqual(['en', 'English']);
  });

  it('says that a listed language has no recogniser, and claims no language where nothing was recognised', async () => {
    const tamil = { file: wav(['alpha']), language_code: 'ta' };
    const { status, body } = await transcribe(test, { ...tamil, response_format: 'verbose_json' });
    expect(status).toBe(200);
    const warning =
      'No recogniser for Tamil (ta): speech in it comes back as empty text. Recognised are English (en), Hindi (hi)';
    expect(body).toMatchObject({
      text: '',
      detected_language: 'und',
      detected_language_name: 'Undetermined',
      warnings: [warning],
    });
    const short = await transcribe(test, tamil);
    expect(short.body).toEqual({ text: '' });
    expect(JSON.parse(short.headers.get('x-warnings')!)).toEqual([warning]);
    const silent = wavFile(new Int16Array(16_000), 16_000);
    const nothing = await transcribe(test, { file: silent, language_code: 'en', response_format: 'verbose_json' });
    expect(nothing.body).toMatchObject({ detected_language: 'und' });
    expect(nothing.headers.get('x-warnings')).toBeNull();
  });

  it.each([
    [{ medical: 'true' }, 'has no medical terms'],
    [{ profanity: 'true' }, 'has no profane words'],
    [{ boost_phrases: 'कल||metformin' }, '1 of 2 phrases'],
    [{ boost_phrases: Array.from({ length: 60 }, (_, index) => `name ${index}`).join('||') }, 'first 50 of 60 phrases'],
    [{ keyterm_keywords: JSON.stringify(['x'.repeat(61)]) }, '1 of 1 phrases'],
  ])('warns of word lists that cannot be heard: %j', async (fields, part) => {
    const { body } = await transcribe(test, {
      file: wav(['alpha']),
      language_code: 'en',
      response_format: 'verbose_json',
      ...fields,
    });
    expect(body).toMatchObject({ text: 'alpha', warnings: [expect.stringContaining(part)] });
  });

  it('does not select by model, and ignores fields of other clients [62] [84]', async () => {
    const extra = { temperature: '0', prompt: 'x', 'timestamp_granularities[]': 'word' };
    for (const model of ['zero-indic', 'whisper-1', '']) {
      expect((await transcribe(test, { file: wav(['alpha']), model, ...extra })).body).toEqual({ text: 'alpha' });
    }
  });

  it.each([
    ['response_format', 'xml'],
    ['num_speakers', 'abc'],
    ['num_speakers', '0'],
    ['num_speakers', '-1'],
    ['boost_weight', 'heavy'],
    ['summary_max_length', 'short'],
    ['intent_choices', 'not json'],
    ['keyterm_keywords', '{"a":1}'],
    ['hash_keywords', '[1]'],
    ['emotion', 'maybe'],
    ['output_script', 'runes'],
  ])('refuses %s=%s with 422 that names the field', async (name, value) => {
    const { status, body } = await transcribe(test, { file: wav(['alpha']), [name]: value });
    expect([status, body]).toEqual([
      422,
      { detail: [{ loc: expect.arrayContaining(['body', name]), msg: expect.any(String), type: expect.any(String) }] },
    ]);
  });

  it('refuses an unknown response_format with 422 whose loc names it [63]', async () => {
    const { status, body } = await transcribe(test, { file: wav(['alpha']), response_format: 'xml' });
    expect([status, body.detail[0]!.loc]).toEqual([422, ['body', 'response_format']]);
  });

  it('refuses num_speakers that is no whole number of at least 1 with 422 [65]', async () => {
    for (const num_speakers of ['abc', '0', '-1', '1.5', '']) {
      expect((await transcribe(test, { file: wav(['alpha']), num_speakers })).status).toBe(422);
    }
  });

  it('reads booleans as true, false, 1 and 0, and nothing else [81]', async () => {
    for (const [emotion, status] of [
      ['false', 200],
      ['0', 200],
      ['true', 200],
      ['1', 200],
      ['maybe', 422],
    ] as const) {
      expect((await transcribe(test, { file: wav(['alpha']), emotion })).status).toBe(status);
    }
  });

  it('answers 400 with a detail and 422 with a list, both as JSON [93]', async () => {
    const bad = await transcribe(test, {});
    expect([bad.status, typeof bad.body.detail]).toEqual([400, 'string']);
    const wrong = await transcribe(test, { file: wav(['alpha']), response_format: 'xml' });
    expect([wrong.status, Array.isArray(wrong.body.detail)]).toEqual([422, true]);
    for (const { headers } of [bad, wrong]) expect(headers.get('content-type')).toContain('application/json');
  });

  it('splits boost phrases at double bars and line ends [67]', async () => {
    await transcribe(test, { file: wav(['alpha']), boost_phrases: 'a||b\nc|d||  ||' });
    expect(test.recognition.opened.at(-1)!.boostPhrases).toEqual(['a', 'b', 'c|d']);
  });

  it('boosts with weight 10 or the given one, in Indian languages only; a weight that is no number is a 422 [68]', async () => {
    const weightOf = async (fields: Fields) => {
      const { status } = await transcribe(test, { file: wav(['alpha']), boost_phrases: 'alpha', ...fields });
      return status === 200 ? test.recognition.opened.at(-1)!.boostWeight : status;
    };
    expect(await weightOf({ language_code: 'hi' })).toBe(10);
    expect(await weightOf({ language_code: 'hi', boost_weight: '25.5' })).toBe(25.5);
    expect(await weightOf({ language_code: 'en', boost_weight: '25.5' })).toBeUndefined();
    expect(await weightOf({ language_code: 'auto', boost_weight: '25.5' })).toBeUndefined();
    expect(await weightOf({ language_code: 'hi', boost_weight: 'heavy' })).toBe(422);
  });

  it('refuses a JSON body at the primary address with 400', async () => {
    const response = await test.post(
      `${test.platform.asrUrl}/v1/audio/transcriptions`,
      '{"model":"zero-indic","url":"https://example.com/a.wav"}',
    );
    expect(response.status).toBe(400);
  });

  it('keeps no upload behind', () => {
    expect(readdirSync(join(dataDir, 'uploads'))).toEqual([]);
  });
});

describe('batch transcription at its limits', () => {
  it('takes exactly the limit and refuses one byte more with 413 [55]', async () => {
    const file = wav(['alpha']);
    await using test = await startTestPlatform({ limits: { audioBytes: file.length } });
    expect((await transcribe(test, { file })).status).toBe(200);
    const longer = wavFile(Int16Array.from([...sayTones(['alpha'], 16_000), 0]), 16_000);
    expect((await transcribe(test, { file: longer })).status).toBe(413);
    expect((await transcribe(test, { audio_base64: Buffer.from(longer).toString('base64') })).status).toBe(413);
    const declared = await transcribe(test, { file: new Uint8Array(file.length * 2 + 5 * 1024 * 1024) });
    expect([declared.status, declared.body]).toEqual([413, { detail: expect.any(String) }]);
  });

  it('refuses audio that lasts too long with 400 [56]', async () => {
    await using test = await startTestPlatform({ limits: { audioSeconds: 1 } });
    expect((await transcribe(test, { file: wavFile(new Int16Array(16_001), 16_000) })).status).toBe(400);
    expect((await transcribe(test, { file: wavFile(new Int16Array(16_000), 16_000) })).status).toBe(200);
  });

  it('refuses one request too many with 429, frees the slot, and stays healthy meanwhile [82] [207]', async () => {
    await using test = await startTestPlatform({ limits: { concurrentPerKey: 16 } });
    let release = (): void => undefined;
    test.recognition.gate = new Promise((resolve) => {
      release = resolve;
    });
    const token = await test.token();
    const running = Array.from({ length: 16 }, () => transcribe(test, { file: wav(['alpha']) }, token));
    await expect.poll(() => test.recognition.openStreams).toBe(16);
    const refused = await transcribe(test, { file: wav(['alpha']) }, token);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await fetch(`${test.platform.asrUrl}/health`)).status).toBe(200);
    release();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(16).fill(200));
    await expect.poll(async () => (await transcribe(test, { file: wav(['alpha']) }, token)).status).toBe(200);
  });

  it('answers 500 for an injected fault, 503 for an engine that is down, 504 past the window, each with detail [83]', async () => {
    await using faulty = await startTestPlatform({ faults: { errors: { share: 1, status: 500 } } });
    const { token } = await faulty.platform.tokens.mint('k', { lifeSeconds: 60 });
    const failed = await transcribe(faulty, { file: wav(['alpha']) }, token);
    expect([failed.status, failed.body]).toEqual([500, { detail: expect.any(String) }]);

    const { RecognitionUnavailableError } = await import('../../../src/platform/engines/recognise/port.ts');
    await using down = await startTestPlatform();
    down.recognition.failCommits = new RecognitionUnavailableError('worker died');
    const refused = await transcribe(down, { file: wav(['alpha']) });
    expect([refused.status, refused.body]).toEqual([503, { detail: expect.any(String) }]);

    await using slow = await startTestPlatform({ limits: { batchMs: 50 } });
    // Counted from when it is waited for, however long the request took to get there.
    Object.defineProperty(slow.recognition, 'gate', {
      get: () => setTimeout(200).then(() => Promise.reject(new Error('closed'))),
    });
    const late = await transcribe(slow, { file: wav(['alpha']) });
    expect([late.status, late.body]).toEqual([504, { detail: expect.any(String) }]);
  });
});
