import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { lastJson, runCommand, runInside } from '../../support/command.ts';
import { type SharedPlatform, startSharedPlatform } from '../../e2e/run-offhook.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-commands-'));
const env = { OFFHOOK_DATA_DIR: join(folder, 'data') };
const at = (name: string): string => join(folder, name);
let platform: SharedPlatform;
beforeAll(async () => void (platform = await startSharedPlatform(join(folder, 'platform'))));
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

it('speaks a text into a file, and transcribes that file to text and subtitles', async () => {
  const text = 'what are your opening hours';
  const saying = ['say', text, '--voice', 'Nisha', '--language', 'en', '-o', at('a.wav'), '--json'];
  const said = await runCommand(saying, { ...env, ...platform.env });
  expect(lastJson(said)).toMatchObject({ ok: true, format: 'wav', voice: 'Nisha' });
  expect(said.code).toBe(0);
  expect(parseWav(readFileSync(at('a.wav'))).samples[0]!.length).toBeGreaterThan(8_000);
  const subtitles = ['--srt', at('a.srt'), '--vtt', at('a.vtt')];
  const transcribing = ['transcribe', at('a.wav'), '--language', 'en', ...subtitles, '--json'];
  const heard = await runCommand(transcribing, { ...env, ...platform.env });
  expect(lastJson(heard)).toMatchObject({ ok: true, text, files: [at('a.srt'), at('a.vtt')] });
  expect(heard.stdout.trim().split('\n')).toHaveLength(1);
  expect(readFileSync(at('a.srt'), 'utf8')).toContain(text);
  expect(readFileSync(at('a.vtt'), 'utf8')).toMatch(/^WEBVTT\n/u);
});

it('passes every doctor check on a fresh installation', async () => {
  const finished = await runCommand(['doctor', '--json'], env);
  expect(lastJson(finished)).toMatchObject({ ok: true });
  expect(finished.code).toBe(0);
});

it('exits with 2 for wrong use and 1 for a failure, in JSON too, with advice', async () => {
  const unreachable = { ...env, OFFHOOK_API_KEY: 'the-key-itself' };
  const urls = {
    OFFHOOK_AUTH_URL: 'http://127.0.0.1:9',
    OFFHOOK_ASR_URL: 'http://127.0.0.1:9',
    OFFHOOK_TTS_URL: 'http://127.0.0.1:9',
  };
  const [usage, refused, failure] = await Promise.all([
    runCommand(['transcribe', at('none.wav'), '--json'], { ...unreachable, ...urls }),
    runCommand(['say', 'hello', '--voice', 'Nisha', '--speed', '9', '-o', at('b.wav'), '--json'], { ...unreachable, ...urls }),
    runCommand(['doctor', '--json'], { ...unreachable, ...urls }),
  ]);
  expect(usage.code).toBe(2);
  expect(lastJson(usage)).toMatchObject({ ok: false });
  expect(refused.code).toBe(2);
  expect(lastJson(refused)).toMatchObject({ ok: false, code: 'OFFHOOK_SPEECH_REQUEST' });
  expect(failure.code).toBe(1);
  expect(failure.stdout).toContain('check OFFHOOK_ASR_URL');
  expect(failure.stdout + failure.stderr).not.toContain('the-key-itself');
});

it('sends every documented parameter of a transcription', async () => {
  const asked = new Map<string, string>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.set(request.url ?? '', body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(request.url?.includes('token') === true ? '{"token":"t","expires_in":60}' : '{"text":"heard"}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urls = {
    OFFHOOK_API_KEY: 'a-key',
    OFFHOOK_AUTH_URL: url,
    OFFHOOK_ASR_URL: url,
    OFFHOOK_TTS_URL: url,
    OFFHOOK_MED_URL: url,
  };
  writeFileSync(at('any.wav'), 'RIFF');
  const flags = ['--language', 'hi', '--speakers', '2', '--identify', '--script', 'Latin', '--boost', 'Asha', 'Ravi'];
  const more = [
    '--boost-weight',
    '12.5',
    '--analysis',
    '--intent',
    '--intent-choices',
    'book',
    'cancel',
    '--sentiment',
    '--summary',
  ];
  const rest = ['--summary-max-length', '80', '--keyterms', '--keyterm-keywords', 'Offhook', '--emotion', '--medical-terms'];
  const last = ['--profanity', '--hash', 'secret', '--code-switch', '-f', 'json'];
  const all = ['transcribe', at('any.wav'), ...flags, ...more, ...rest, ...last];
  const [heard, medical, token, foreign] = await Promise.all([
    runCommand(all, { ...env, ...urls }),
    runCommand(['transcribe', at('any.wav'), '--medical', '--diarize', '--json'], { ...env, ...urls }),
    runCommand(['token', '--expires-in', '123456789'], { ...env, ...urls }),
    runCommand(['transcribe', at('any.wav'), '--medical', '--boost-weight', '3', '--json'], { ...env, ...urls }),
  ]);
  server.close();
  expect([heard, medical, token, foreign].map(({ code }) => code)).toEqual([0, 0, 0, 2]);
  const sent = [...(asked.get('/v1/audio/transcriptions') ?? '').matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/gu)];
  expect(Object.fromEntries(sent.map(([, name, value]) => [name, value]))).toEqual({
    language_code: 'hi',
    response_format: 'verbose_json',
    num_speakers: '2',
    output_script: 'Latin',
    boost_phrases: 'Asha||Ravi',
    boost_weight: '12.5',
    nlp_analysis: 'true',
    enable_intent_detection: 'true',
    intent_choices: '["book","cancel"]',
    enable_sentiment_analysis: 'true',
    enable_summarization: 'true',
    summary_max_length: '80',
    enable_keyterm_normalization: 'true',
    keyterm_keywords: '["Offhook"]',
    emotion: 'true',
    speaker_id: 'true',
    medical: 'true',
    profanity: 'true',
    hash_keywords: '["secret"]',
    codeswitch: 'true',
  });
  expect(asked.get('/transcribe')).toMatch(/name="enable_diarization"\r\n\r\ntrue/u);
  expect(lastJson(medical)).toMatchObject({ ok: true, text: 'heard' });
  expect([...asked.keys()]).toContain('/api/auth/token?expires_in=86400');
  expect(lastJson(foreign)).toMatchObject({ error: 'the medical service takes no --boost-weight' });
});

it.each([
  ['batch', () => import('../../../examples/speech/batch.ts')],
  ['realtime', () => import('../../../examples/speech/realtime.ts')],
  ['services', () => import('../../../examples/speech/services.ts')],
])('runs the example %s', async (_name, example) => {
  const { stdout } = await runInside(example, platform.env);
  expect(stdout).toContain('said and heard');
});
