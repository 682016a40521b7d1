import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { seededRandom } from '../../src/audio/tone.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { readDevSecrets } from '../../src/config/dev-secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { dialTwilio } from '../../src/sim/twilio-carrier.ts';
import { openDatabase } from '../../src/store/database.ts';
import { storeOn } from '../../src/store/postgres-store.ts';
import { eventually } from '../integration/gateway/eventually.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';

const BIN = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));
const ROUNDS = 5;
const seed = Number(process.env.OFFHOOK_TEST_SEED ?? Date.now() % 1_000_000);

it('loses no call to kill -9: each has one record that says how it ended, and a playable recording', async () => {
  console.log(`OFFHOOK_TEST_SEED=${seed}`);
  const random = seededRandom(seed);
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-kills-'));
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
  await using speech = await startTestPlatform();
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
  const env = {
    ...process.env,
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_BOTS__FOLDER: bots,
    OFFHOOK_AUTH_URL: authUrl,
    OFFHOOK_ASR_URL: asrUrl,
    OFFHOOK_TTS_URL: ttsUrl,
    OFFHOOK_API_KEY: apiKey,
  };
  const sentMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const gateway = await startGatewayProcess(env);
    const authToken = readDevSecrets(dataDir).twilioAuthToken.reveal();
    const call = await dialTwilio({ url: gateway.url, authToken, clock: systemClock });
    const killAtMs = 1_000 + random() * 4_000;
    await eventually('the moment to kill', () => call.stream.nowMs >= killAtMs);
    gateway.child.kill('SIGKILL');
    await once(gateway.child, 'exit');
    sentMs.push(call.stream.spoken.length / 8);
  }
  const last = await startGatewayProcess(env);
  await using database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem: () => undefined });
  const store = storeOn(database);
  await eventually(
    'every call in the store',
    async () => (await store.calls.search('default', { limit: 50 })).calls.length === ROUNDS,
    60_000,
  );
  const { calls } = await store.calls.search('default', { limit: 50 });
  expect(calls.map(({ endReason }) => endReason)).toEqual(Array.from({ length: ROUNDS }, () => 'process-died'));
  for (const [index, { id }] of calls.toReversed().entries()) {
    const record = await store.calls.get('default', id);
    const wav = parseWav(readFileSync(record!.recordingPath!));
    expect(sentMs[index]! - wav.samples[0]!.length / 8).toBeLessThan(600);
  }
  last.child.kill('SIGTERM');
  await once(last.child, 'exit');
  rmSync(dataDir, { recursive: true, force: true });
});

async function startGatewayProcess(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [BIN, 'start', '--json'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.on('data', (part: Buffer) => void (stdout += part.toString('utf8')));
  await eventually('the gateway', () => stdout.includes('\n') || child.exitCode !== null, 60_000);
  return { child, url: (JSON.parse(stdout.trim().split('\n').at(-1)!) as { url: string }).url };
}
