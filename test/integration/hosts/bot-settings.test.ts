import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { loadVoiceActivity } from '../../../src/audio/voice-activity/voice-activity.ts';
import { compareCalls } from '../../../src/rehearsal/replay/compare.ts';
import { readFixture } from '../../../src/rehearsal/replay/fixture-file.ts';
import { replayCall } from '../../../src/rehearsal/replay/replay-call.ts';
import { parseAction } from '../../../src/dialog/action-schema.ts';
import { type CallerStep, ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { cough } from '../../../src/sim/caller/cough.ts';
import { SentenceCutter } from '../../../src/speech/tts/sentences.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

let bench: GatewayBench;

beforeAll(async () => {
  const keeping = { OFFHOOK_CALL__KEEP_FIXTURES: 'echo, another', OFFHOOK_CALL__FIXTURE_DAYS: '2' };
  bench = await startGatewayBench({
    env: { ...keeping, OFFHOOK_RECORDINGS__SEAL: 'always' },
    otherBots: { neural: 'detector: neural\n', office: 'ambience: { room: office, levelDb: -56 }\n', misspelt: 'voice: Nihsa\n' },
    files: { 'ding.wav': wavFile(sine(1_000, 1_500, 44_100), 44_100) },
  });
});

afterAll(() => bench[Symbol.asyncDispose]());

const say = (word: ToneWord): CallerStep => ({ kind: 'say', text: word, pcm: sayTones([word], 8_000).subarray(1_600) });

it.concurrent('keeps a sealed fixture of a call over real sockets that replays to the same decisions', async () => {
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

it.concurrent('uses the neural detector where the bot asks for it, and counts its frames', async () => {
  const call = await bench.dial({}, { bot: 'neural' });
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream).run([say('alpha'), say('charlie'), { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'charlie']);
  const metrics = await (await fetch(`${bench.gateway.url}/metrics`)).text();
  expect(metrics).toContain('offhook_neural_calls_total{outcome="taken"} 1\n');
  expect(Number(/^offhook_neural_frames_total\{result="judged"\} (\d+)$/mu.exec(metrics)?.[1])).toBeGreaterThan(20);
});

it.concurrent('greets with the platform’s default voice where the bot’s is misspelt, and continues the call', async () => {
  const call = await bench.dial({}, { bot: 'misspelt' });
  const { id } = bench.sessionOf(call);
  await eventually('the greeting', () =>
    bench.news.some((news) => news.type === 'heard' && news.callId === id && news.heard.startsWith('Hello there')),
  );
  expect(call.stream.open).toBe(true);
  await call.hangUp();
});

it.concurrent('plays the bot’s room tone and sound file, and speaks the text of a sound it may not fetch', async () => {
  const call = await bench.dial({}, { bot: 'office' });
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream).run([{ kind: 'press', digits: '3' }, say('charlie'), { kind: 'wait-for-end' }]);
  const { turns } = await session.ended;
  expect(turns.map(({ botHeardText }) => botHeardText).slice(0, 2)).toEqual([
    'Hello there, please say a word.',
    '[audio ding.wav] Ding dong.',
  ]);
  const { heard } = call.stream.buffer;
  const frames = Array.from({ length: Math.floor(heard.length / FRAME) }, (_, at) =>
    heard.subarray(at * FRAME, (at + 1) * FRAME),
  );
  const dings = frames.filter((frame) => Math.abs(crossings(frame) - 19.5) < 1 && rmsLevelDb(frame) > -30);
  expect(dings.length * 20).toBeGreaterThan(1_300);
  const begun = frames.findIndex((frame) => rmsLevelDb(frame) > -90);
  const pauses = frames
    .slice(begun)
    .map((frame) => rmsLevelDb(frame))
    .filter((level) => level < -42)
    .toSorted((a, b) => a - b);
  expect(pauses.length).toBeGreaterThan(50);
  expect(pauses[Math.floor(pauses.length / 2)]).toBeGreaterThan(-61);
  expect(pauses[Math.floor(pauses.length / 2)]).toBeLessThan(-51);
});

const FRAME = 160;

/** How often the sound goes from below zero to above. */
function crossings(pcm: Int16Array): number {
  let [count, before] = [0, 0];
  for (const sample of pcm) {
    if (before < 0 && sample >= 0) count += 1;
    before = sample;
  }
  return count;
}
