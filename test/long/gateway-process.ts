import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import { eventually } from '../support/eventually.ts';
import { BRIEFLY } from '../support/program.ts';

const BIN = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));

type Addresses = Pick<SpeechPlatformSettings, 'authUrl' | 'asrUrl' | 'ttsUrl'> & { readonly apiKey: string };

/** Writes a bot that talks for half a minute whatever it hears; the environment of a gateway that has it. */
export function talkativeGateway(dataDir: string, { authUrl, asrUrl, ttsUrl, apiKey }: Addresses): NodeJS.ProcessEnv {
  const bots = join(dataDir, 'bots');
  mkdirSync(bots);
  writeFileSync(
    join(bots, 'talker.yaml'),
    'name: talker\ndefault: true\nvoice: Nisha\ndialog: { kind: module, file: talker.js }\n',
  );
  writeFileSync(
    join(bots, 'talker.js'),
    "export async function* respond() { for (let i = 0; i < 10; i++) yield { type: 'say', text: 'This goes on for a while.' }; }\n",
  );
  writeFileSync(join(bots, 'package.json'), '{"type":"module"}');
  return {
    ...process.env,
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_CALL__DRAIN_MS: '0',
    OFFHOOK_BOTS__FOLDER: bots,
    OFFHOOK_AUTH_URL: authUrl,
    OFFHOOK_ASR_URL: asrUrl,
    OFFHOOK_TTS_URL: ttsUrl,
    OFFHOOK_API_KEY: apiKey,
  };
}

/** `offhook start` in a process of its own, ready for calls. */
export async function startGatewayProcess(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [...BRIEFLY, BIN, 'start', '--json'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.on('data', (part: Buffer) => void (stdout += part.toString('utf8')));
  await eventually('the gateway', () => stdout.includes('\n') || child.exitCode !== null, 60_000);
  return { child, url: (JSON.parse(stdout.trim().split('\n').at(-1)!) as { url: string }).url };
}
