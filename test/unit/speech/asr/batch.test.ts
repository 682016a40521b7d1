import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { transcribe, type TranscriptionOptions, type TranscriptionSource } from '../../../../src/speech/asr/batch.ts';
import { SpeechHttp } from '../../../../src/speech/client/requests.ts';
import { TokenSource } from '../../../../src/speech/client/tokens.ts';
import { API_KEY, AUTH_URL, type Asked, FakeFetch, minting } from '../fake-platform.ts';

const wav: TranscriptionSource = { bytes: new TextEncoder().encode('RIFF'), name: 'call.wav' };

async function transcribing(
  answer: unknown,
  source = wav,
  options: TranscriptionOptions = {},
  more: Record<string, string> = {},
) {
  const mint = minting();
  const requests: Asked[] = [];
  const fake = new FakeFetch((asked) => {
    if (asked.url.origin === AUTH_URL) return mint();
    requests.push(asked);
    const headers = { 'x-request-id': 'req-header', ...more };
    return typeof answer === 'string' ? new Response(answer, { headers }) : Response.json(answer, { headers });
  });
  const clock = new ManualClock();
  const tokens = new TokenSource({ authUrl: AUTH_URL, apiKey: API_KEY, clock, fetch: fake.fetch });
  const http = new SpeechHttp({ tokens, clock, fetch: fake.fetch, timeoutMs: 120_000 });
  const { signal } = new AbortController();
  const result = await transcribe(http, 'https://asr.example', source, options, signal).catch((error: unknown) => error);
  return { result, requests, form: requests[0]?.body as FormData };
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'offhook-batch-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

describe('batch transcription', () => {
  it('uploads a file under its name', async () => {
    const path = join(await folder(), 'a call.wav');
    await writeFile(path, 'RIFFdata');
    const { result, requests, form } = await transcribing({ text: 'hello' }, { path });
    expect(requests[0]).toMatchObject({ method: 'POST', url: new URL('https://asr.example/v1/audio/transcriptions') });
    const file = form.get('file');
    if (!(file instanceof File)) throw new Error('no file was sent');
    expect(file.name).toBe('a call.wav');
    expect(await file.text()).toBe('RIFFdata');
    expect(result).toMatchObject({
      text: 'hello',
      requestId: 'req-header',
      segments: [],
      words: [],
      detectedLanguage: undefined,
      durationS: undefined,
    });
  });

  it.each([
    { note: 'of a short answer', answer: { text: '' }, header: '["heard by \\u092e"]', warnings: ['heard by म'] },
    { note: 'of its body first', answer: { text: '', warnings: ['own'] }, header: '["other"]', warnings: ['own'] },
    { note: 'in no other form', answer: { text: '' }, header: 'odd', warnings: [] },
  ])('reads the warnings $note', async ({ answer, header, warnings }) => {
    const { result } = await transcribing(answer, wav, {}, { 'x-warnings': header });
    expect(result).toMatchObject({ warnings });
  });

  it.each([
    { note: 'is not there', source: { path: '/no/such/call.wav' } },
    { note: 'is empty', source: { bytes: new Uint8Array(), name: 'call.wav' } },
  ])('names a recording that $note, and sends nothing', async ({ source }) => {
    const { result, requests } = await transcribing({ text: '' }, source);
    expect(result).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST', message: expect.stringContaining('call.wav') });
    expect(requests).toHaveLength(0);
  });

  it('sends flags as words, lists as JSON text, and nothing for what is not set [86]', async () => {
    const { form } = await transcribing({ text: '' }, wav, {
      language: 'hi',
      verbose: true,
      numSpeakers: 2,
      boostPhrases: ['half past ten', 'a|b'],
      profanity: false,
      hashKeywords: ['card', 'पिन'],
    });
    const fields = Object.fromEntries([...form].filter(([name]) => name !== 'file'));
    expect(fields).toEqual({
      response_format: 'verbose_json',
      language_code: 'hi',
      num_speakers: '2',
      boost_phrases: 'half past ten||a|b',
      profanity: 'false',
      hash_keywords: '["card","पिन"]',
    });
    const { form: bare } = await transcribing({ text: '' });
    expect([...bare.keys()]).toEqual(['file', 'response_format']);
  });

  it('asks for the verbose answer when speakers are to be told apart [88]', async () => {
    expect((await transcribing({ text: '' }, wav, { numSpeakers: 2 })).form.get('response_format')).toBe('verbose_json');
    expect((await transcribing({ text: '' }, wav, {})).form.get('response_format')).toBe('json');
  });

  it('refuses a file over 500 MB before anything is sent [87]', async () => {
    const path = join(await folder(), 'long.wav');
    const file = await open(path, 'w');
    // Sparse: it takes no room.
    await file.truncate(500 * 1024 * 1024 + 1);
    await file.close();
    const { result, requests } = await transcribing({ text: '' }, { path });
    expect(result).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(requests).toHaveLength(0);
  });

  test.each([
    { note: 'no source', source: {} },
    { note: 'two sources', source: { path: '/none', url: 'https://files.example/a.wav' } },
    { note: 'an address without https', source: { url: 'http://files.example/a.wav' } },
    { note: 'an address with a password', source: { url: 'https://me:secret@files.example/a.wav' } },
    { note: 'what is no address', source: { url: 'a.wav' } },
    { note: 'what is no base64', source: { base64: 'UklG*', name: 'a.wav' } },
    { note: 'empty base64', source: { base64: '', name: 'a.wav' } },
  ])('refuses $note before anything is sent [87]', async ({ source }) => {
    const { result, requests } = await transcribing({ text: '' }, source as TranscriptionSource);
    expect(result).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(String(result)).not.toContain('secret');
    expect(requests).toHaveLength(0);
  });

  it('refuses to identify speakers it does not tell apart before anything is sent [87]', async () => {
    const { result, requests } = await transcribing({ text: '' }, wav, { identifySpeakers: true });
    expect(result).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(requests).toHaveLength(0);
  });

  it('passes an address on for the platform to fetch', async () => {
    const { form } = await transcribing({ text: '' }, { url: 'https://files.example/a b.wav' });
    expect([...form]).toEqual([
      ['url', 'https://files.example/a%20b.wav'],
      ['response_format', 'json'],
    ]);
  });

  test.each([
    { note: 'a short one', bytes: Buffer.from('RIFF and more') },
    { note: 'one of many megabytes', bytes: Buffer.alloc(20_000_000, 7) },
  ])('uploads base64 as the file it stands for: $note [91]', async ({ bytes }) => {
    const base64 = `data:audio/wav;base64,${bytes.toString('base64')}`;
    const { form } = await transcribing({ text: '' }, { base64, name: 'a.wav' });
    const file = form.get('file');
    if (!(file instanceof File)) throw new Error('no file was sent');
    expect(bytes.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
    expect([...form.keys()]).toEqual(['file', 'response_format']);
  });
});
