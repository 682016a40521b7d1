// Written from the documents alone: commands as their readers would type them.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import { requireTool } from '../support/requires.ts';
import { wavFile } from './wav-file.ts';

const curl = requireTool('curl');
const run = promisify(execFile);

describe.skipIf(curl === undefined)('curl', () => {
  let test: TestPlatform;
  let folder: string;
  let token = '';

  beforeAll(async () => {
    test = await startTestPlatform();
    folder = mkdtempSync(join(tmpdir(), 'offhook-curl-'));
    writeFileSync(join(folder, 'words.wav'), wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000));
    token = (await json('-X', 'POST', `${test.platform.authUrl}/api/auth/token`, '-H', `api-key: ${test.platform.apiKey}`)).body
      .token as string;
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await test[Symbol.asyncDispose]();
  });

  async function output(...args: string[]): Promise<string> {
    return (await run(curl!, ['-sS', '--max-time', '20', ...args], { cwd: folder })).stdout;
  }

  /** The body as JSON, and the status. */
  async function json(...args: string[]): Promise<{ status: number; body: Record<string, unknown> }> {
    const told = await output(...args, '-w', '\n%{http_code}');
    const end = told.lastIndexOf('\n');
    return { status: Number(told.slice(end + 1)), body: JSON.parse(told.slice(0, end)) as Record<string, unknown> };
  }

  const bearer = (): string[] => ['-H', `Authorization: Bearer ${token}`];
  const transcriptions = (): string => `${test.platform.asrUrl}/v1/audio/transcriptions`;

  it('mints a token of the life it asks for', async () => {
    const { authUrl, apiKey } = test.platform;
    const minted = await json('-X', 'POST', `${authUrl}/api/auth/token?expires_in=3600`, '-H', `api-key: ${apiKey}`);
    expect(minted).toEqual({
      status: 200,
      body: { token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expires_in: 3600, expires_at: expect.any(String) },
    });
    expect((await json('-X', 'POST', `${authUrl}/api/auth/token`)).status).toBe(400);
  });

  it('transcribes a file to the short answer, its request id in a header', async () => {
    const told = await output('-i', transcriptions(), ...bearer(), '-F', 'file=@words.wav', '-F', 'language_code=en');
    expect(told).toMatch(/^HTTP\/1\.1 (100 Continue[\s\S]*HTTP\/1\.1 )?200/);
    expect(told).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
    expect(JSON.parse(told.slice(told.lastIndexOf('\n\r\n') + 3))).toEqual({ text: expect.stringMatching(/alpha bravo/i) });
  });

  it('transcribes to the verbose answer with its features', async () => {
    const fields = { response_format: 'verbose_json', language: 'English', num_speakers: '1', hash_keywords: '["bravo"]' };
    const form = Object.entries(fields).flatMap(([name, value]) => ['-F', `${name}=${value}`]);
    const { status, body } = await json(transcriptions(), ...bearer(), '-F', 'file=@words.wav;type=audio/wav', ...form);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, detected_language: 'en', speakers: ['SPEAKER_00'] });
    expect(body['text']).toMatch(/alpha \*{4}/i);
  });

  it('transcribes base64 audio read from a file', async () => {
    writeFileSync(join(folder, 'words.b64'), readFileSync(join(folder, 'words.wav')).toString('base64'));
    const { status, body } = await json(transcriptions(), ...bearer(), '-F', 'audio_base64=<words.b64', '-F', 'language_code=en');
    expect([status, body['text']]).toEqual([200, expect.stringMatching(/alpha bravo/i)]);
  });

  it('speaks to a file, which it can have transcribed again', async () => {
    const speech = JSON.stringify({
      model: 'zero-indic',
      input: 'Hello',
      voice: 'Rajesh',
      response_format: 'wav',
      language: 'en',
    });
    const told = await output(
      `${test.platform.ttsUrl}/v1/audio/speech`,
      ...bearer(),
      '-H',
      'Content-Type: application/json',
      '-d',
      speech,
      '-o',
      'hello.wav',
      '-D',
      '-',
      '-w',
      '%{size_download}',
    );
    expect(told).toMatch(/^content-type: audio\/wav\r$/im);
    expect(told).toMatch(/^x-sample-rate: 24000\r$/im);
    expect(told).toMatch(/^x-request-id: /im);
    expect(statSync(join(folder, 'hello.wav')).size).toBe(Number(told.slice(told.lastIndexOf('\n') + 1)));
    expect((await json(transcriptions(), ...bearer(), '-F', 'file=@hello.wav')).status).toBe(200);
  });

  it('is told what is wrong', async () => {
    expect(await json(transcriptions(), '-F', 'file=@words.wav')).toEqual({ status: 401, body: { detail: expect.any(String) } });
    const unsupported = await json(transcriptions(), ...bearer(), '-F', 'file=@words.wav', '-F', 'language_code=tlh');
    expect(unsupported).toEqual({ status: 400, body: { detail: expect.stringContaining('hi') } });
    const wrong = await json(transcriptions(), ...bearer(), '-F', 'file=@words.wav', '-F', 'num_speakers=two');
    expect(wrong).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'num_speakers'] }] } });
  });
});
