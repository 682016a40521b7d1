import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadVoiceActivity } from '../../../src/audio/voice-activity/voice-activity.ts';
import { compareCalls } from '../../../src/replay/compare.ts';
import { readFixture } from '../../../src/replay/fixture-file.ts';
import { replayCall } from '../../../src/replay/replay-call.ts';
import { parseAction } from '../../../src/dialog/action-schema.ts';
import { ScriptedCaller } from '../../../src/sim/caller.ts';
import { cough } from '../../../src/sim/cough.ts';
import { SentenceCutter } from '../../../src/speech/tts/sentences.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

let bench: GatewayBench;

beforeAll(async () => {
  const keeping = { OFFHOOK_CALL__KEEP_FIXTURES: 'echo, another', OFFHOOK_CALL__FIXTURE_DAYS: '2' };
  bench = await startGatewayBench({ env: { ...keeping, OFFHOOK_RECORDINGS__SEAL: 'always' } });
});

afterAll(() => bench[Symbol.asyncDispose]());

it('keeps a call over real sockets, sealed as its recording is, so that it decides the same when it is run again', async () => {
  const call = await bench.dial({ networkDelayMs: () => Math.random() * 30, toGatewayDelayMs: () => Math.random() * 30 });
  const session = bench.sessionOf(call);
  const word = (text: 'alpha' | 'bravo' | 'charlie'): Int16Array => sayTones([text, text], 8_000).subarray(1_600);
  await new ScriptedCaller(call.stream, 25_000).run([
    { kind: 'say', text: 'alpha', pcm: word('alpha') },
    { kind: 'cough', pcm: cough(300, 3), afterMs: 600 },
    { kind: 'interrupt', text: 'bravo', pcm: word('bravo'), afterMs: 1_600 },
    { kind: 'say', text: 'charlie', pcm: word('charlie') },
    { kind: 'wait-for-end' },
  ]);
  const record = await session.ended;
  const folder = join(bench.dataDir, 'fixtures');
  const path = join(folder, `${record.id}.fixture.sealed`);
  expect(readdirSync(folder)).toEqual([`${record.id}.fixture.sealed`]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);

  await expect(readFixture(path, Date.now())).rejects.toMatchObject({ code: 'OFFHOOK_FIXTURE_EXPIRED' });
  const { privacy } = bench.gateway.backlog.store;
  const fixture = await readFixture(path, Date.now(), (...call) => privacy.audioKey(...call));
  expect(fixture.expiresAtMs! - fixture.recordedAtMs).toBe(2 * 86_400_000);
  const text = JSON.stringify({ ...fixture, callerAudio: '', botAudio: '' });
  for (const secret of [record.from, record.to, record.carrierCallId, record.id, call.stream.streamSid]) {
    expect(text).not.toContain(secret);
  }
  const types = fixture.decisions.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['ask', 'dialog', 'speak', 'reply', 'hold', 'resume', 'clear', 'commit', 'end']));

  const createDetector = await loadVoiceActivity();
  const parts = { createDetector, createCutter: () => new SentenceCutter(), readAction: parseAction };
  for (let time = 0; time < 3; time += 1) {
    const report = compareCalls(fixture, await replayCall(fixture, parts));
    expect(report.divergence).toBeUndefined();
    expect(report.standIns).toEqual([]);
  }
});
