// The platform vendor's Python package, installed as its users do and not changed, against a platform with --compat.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import { requirePython } from '../support/requires.ts';
import { wavFile } from './wav-file.ts';

const python = await requirePython('shunyalabsai[all]==1.1.1');
const run = promisify(execFile);

describe.skipIf(python === undefined)('the shunyalabsai package, unmodified', () => {
  it('recognises and speaks, in batch and streaming, with a platform in compat mode', async () => {
    await using test = await startTestPlatform({ compat: true });
    const { authUrl, asrUrl, ttsUrl, apiKey } = test.platform;
    const folder = mkdtempSync(join(tmpdir(), 'offhook-sdk-'));
    const recording = join(folder, 'words.wav');
    writeFileSync(recording, wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000));
    const env = {
      PATH: process.env.PATH,
      SHUNYALABS_API_KEY: apiKey,
      SHUNYALABS_AUTH_URL: `${authUrl}/api/auth/token`,
      SHUNYALABS_ASR_URL: asrUrl,
      SHUNYALABS_ASR_WS_URL: `${asrUrl.replace('http', 'ws')}/v1/realtime`,
      SHUNYALABS_TTS_URL: ttsUrl,
      SHUNYALABS_TTS_WS_URL: `${ttsUrl.replace('http', 'ws')}/v1/realtime`,
    };
    const script = join(import.meta.dirname, 'shunyalabsai.py');
    const { stdout } = await run(python!, [script, recording], { env, timeout: 50_000 }).finally(() =>
      rmSync(folder, { recursive: true }),
    );
    expect(JSON.parse(stdout)).toEqual({
      batchSpeechHz: 24_000,
      streamedSpeechHz: 24_000,
      // Two sentences of 6 and 13 characters, 50 ms each, and 200 ms of silence with each.
      streamedSpeechBytes: expect.toSatisfy((bytes: number) => bytes > 24_000 && bytes % 2 === 0),
      transcript: 'alpha bravo',
      transcriptOfSync: 'alpha bravo',
      features: [['SPEAKER_00'], true, ['label']],
      turns: [
        ['final', 0, 'alpha bravo'],
        ['final', 1, 'alpha bravo'],
        ['utterance_end', 0, null],
        ['utterance_end', 1, null],
      ],
      endpointSilenceMs: 300,
      french: expect.stringMatching(/^SynthesisError: .*streaming serves the Indic languages/),
      klingon: expect.stringMatching(/^SessionError: .*Unsupported language_code "klingon"/),
      stranger: expect.stringMatching(/HTTP 403 .*The API key is not known/),
    });
  });
});
