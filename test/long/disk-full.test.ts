import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseWav } from '../../src/audio/wav.ts';
import { readDevSecret } from '../../src/config/dev-secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { dialTwilio } from '../../src/sim/twilio/carrier.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { eventually } from '../support/eventually.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { startGatewayProcess, talkativeGateway } from './gateway-process.ts';

/** Some six seconds of stereo audio. */
const DISK_BYTES = 200 * 1024;
const CALL_MS = 12_000;

/** Mounting needs root. */
function mountSmallDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

it('goes on with a call whose recording finds the disk full, and keeps what was written before', async ({ skip }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-full-'));
  const recordings = join(dataDir, 'recordings');
  if (!mountSmallDisk(recordings)) {
    rmSync(dataDir, { recursive: true, force: true });
    skip('a small disk can be mounted by root only');
  }
  await using speech = await startTestPlatform();
  const env = { ...talkativeGateway(dataDir, speech.platform), OFFHOOK_RECORDINGS__SEAL: 'never' };
  const { child, url } = await startGatewayProcess(env);
  try {
    const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
    const call = await dialTwilio({ url, authToken, clock: systemClock });
    await eventually('the end of the call', () => call.stream.nowMs >= CALL_MS, CALL_MS + 20_000);
    expect(call.stream.open).toBe(true);
    await call.hangUp();
    await using database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem: () => undefined });
    const store = storeOn(database);
    const kept = async () => (await store.calls.search('default', { limit: 5 })).calls;
    await eventually('the call in the store', async () => (await kept()).length === 1, 60_000);
    const record = await store.calls.get('default', (await kept())[0]!.id);
    expect(record).toMatchObject({ endReason: 'caller-hangup' });
    expect(JSON.stringify(record!.timeline)).toContain('recording: ENOSPC');
    expect(existsSync(record!.recordingPath!)).toBe(true);
    const seconds = parseWav(readFileSync(record!.recordingPath!)).samples[0]!.length / 8_000;
    expect(seconds).toBeGreaterThan(4);
    expect(seconds).toBeLessThan(DISK_BYTES / 32_000);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    execFileSync('umount', [recordings]);
    rmSync(dataDir, { recursive: true, force: true });
  }
});
