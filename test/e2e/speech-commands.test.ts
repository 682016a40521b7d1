import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parseWav } from '../../src/audio/wav.ts';
import { lastJson, runOffhook, type SharedPlatform, startSharedPlatform } from './run-offhook.ts';

// Each starts a process, some with an embedded platform.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const folder = mkdtempSync(join(tmpdir(), 'offhook-commands-'));
const env = { OFFHOOK_DATA_DIR: join(folder, 'data') };
const at = (name: string): string => join(folder, name);
let platform: SharedPlatform;
beforeAll(async () => void (platform = await startSharedPlatform(join(folder, 'platform'))));
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

it.concurrent('speaks a text into a file, and writes what it hears in it as text and subtitles', async () => {
  const text = 'what are your opening hours';
  const saying = ['say', text, '--voice', 'Nisha', '--language', 'en', '-o', at('a.wav'), '--json'];
  const said = await runOffhook(saying, { ...env, ...platform.env });
  expect(lastJson(said)).toMatchObject({ ok: true, format: 'wav', voice: 'Nisha' });
  expect(said.code).toBe(0);
  expect(parseWav(readFileSync(at('a.wav'))).samples[0]!.length).toBeGreaterThan(8_000);
  const subtitles = ['--srt', at('a.srt'), '--vtt', at('a.vtt')];
  const transcribing = ['transcribe', at('a.wav'), '--language', 'en', ...subtitles, '--json'];
  const heard = await runOffhook(transcribing, { ...env, ...platform.env });
  expect(lastJson(heard)).toMatchObject({ ok: true, text, files: [at('a.srt'), at('a.vtt')] });
  expect(heard.stdout.trim().split('\n')).toHaveLength(1);
  expect(readFileSync(at('a.srt'), 'utf8')).toContain(text);
  expect(readFileSync(at('a.vtt'), 'utf8')).toMatch(/^WEBVTT\n/u);
});

it.concurrent('finds nothing wrong with a fresh installation', async () => {
  const finished = await runOffhook(['doctor', '--json'], env);
  expect(lastJson(finished)).toMatchObject({ ok: true });
  expect(finished.code).toBe(0);
});

it.concurrent('tells a wrong use (2) from a failure (1), as JSON too, and says what to do', async () => {
  const unreachable = { ...env, OFFHOOK_API_KEY: 'the-key-itself' };
  const urls = {
    OFFHOOK_AUTH_URL: 'http://127.0.0.1:9',
    OFFHOOK_ASR_URL: 'http://127.0.0.1:9',
    OFFHOOK_TTS_URL: 'http://127.0.0.1:9',
  };
  const [usage, refused, failure] = await Promise.all([
    runOffhook(['transcribe', at('none.wav'), '--json'], { ...unreachable, ...urls }),
    runOffhook(['say', 'hello', '--voice', 'Nisha', '--speed', '9', '-o', at('b.wav'), '--json'], { ...unreachable, ...urls }),
    runOffhook(['doctor', '--json'], { ...unreachable, ...urls }),
  ]);
  expect(usage.code).toBe(2);
  expect(lastJson(usage)).toMatchObject({ ok: false });
  expect(refused.code).toBe(2);
  expect(lastJson(refused)).toMatchObject({ ok: false, code: 'OFFHOOK_SPEECH_REQUEST' });
  expect(failure.code).toBe(1);
  expect(failure.stdout).toContain('check OFFHOOK_ASR_URL');
  expect(failure.stdout + failure.stderr).not.toContain('the-key-itself');
});

// The first starts a platform of its own, as all of them do where the settings name none.
it.concurrent.each(['batch', 'realtime', 'services'])('runs the example %s', async (name) => {
  const program = fileURLToPath(new URL(`../../examples/speech/${name}.ts`, import.meta.url));
  const environment = { ...process.env, ...(name === 'batch' ? {} : platform.env) };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program], { env: environment });
  expect(stdout).toContain('said and heard');
});
