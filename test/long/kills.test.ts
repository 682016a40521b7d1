import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seededRandom } from '../../src/audio/tone.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { readDevSecret } from '../../src/config/dev-secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { dialTwilio } from '../../src/sim/twilio/carrier.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { eventually } from '../support/eventually.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { startGatewayProcess, talkativeGateway } from './gateway-process.ts';

const ROUNDS = 5;
const seed = Number(process.env.OFFHOOK_TEST_SEED ?? Date.now() % 1_000_000);

it('loses no call to kill -9: each has one record that says how it ended, and a playable recording', async () => {
  console.log(`OFFHOOK_TEST_SEED=${seed}`);
  const random = seededRandom(seed);
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-kills-'));
  await using speech = await startTestPlatform();
  const env = talkativeGateway(dataDir, speech.platform);
  const sentMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const gateway = await startGatewayProcess(env);
    const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
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
