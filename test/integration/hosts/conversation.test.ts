import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import { analysisPath } from '../../../src/records/after-call/analyse-call.ts';
import { storedCall } from '../../../src/records/after-call/stored-call.ts';
import type { CallRecord } from '../../../src/call/log/call-record.ts';
import { type CallerStep, ScriptedCaller, type StepReport } from '../../../src/sim/caller/caller.ts';
import { cough } from '../../../src/sim/caller/cough.ts';
import type { ProfileName } from '../../../src/platform/server/asr/behaviour.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const say = (...words: ToneWord[]): CallerStep => ({ kind: 'say', text: words.join(' '), pcm: speech(...words) });
/** Without the silence before the first word, so that an interruption is timed from its first sound. */
const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);

const profiles = ['plain', 'hosted-like'] as const satisfies readonly ProfileName[];
const benches = new Map<ProfileName, GatewayBench>();
function benchOf(profile: ProfileName): GatewayBench {
  const bench = benches.get(profile);
  if (bench === undefined) throw new Error(`no gateway with the ${profile} platform`);
  return bench;
}

beforeAll(async () => {
  for (const profile of profiles) benches.set(profile, await startGatewayBench({ platform: { profile } }));
});

afterAll(async () => {
  for (const bench of benches.values()) await bench[Symbol.asyncDispose]();
});

interface Held {
  readonly bench: GatewayBench;
  readonly record: CallRecord;
  readonly interruption: StepReport;
  readonly warnings: readonly unknown[];
}

const held = new Map<ProfileName, Promise<Held>>();

/** One conversation with the platform of this profile, which all cases look at. */
function conversation(profile: ProfileName): Promise<Held> {
  const begun = held.get(profile) ?? hold(benchOf(profile));
  held.set(profile, begun);
  return begun;
}

async function hold(bench: GatewayBench): Promise<Held> {
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  const reports = await new ScriptedCaller(call.stream, 25_000).run([
    say('alpha'),
    { kind: 'cough', pcm: cough(300, 3), afterMs: 600 },
    { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_600 },
    { kind: 'press', digits: '7' },
    say('charlie'),
    { kind: 'wait-for-end' },
  ]);
  const interruption = reports.find(({ kind }) => kind === 'interrupt');
  if (interruption === undefined) throw new Error('the caller interrupted nothing');
  const warnings = call.stream.complaints;
  return { bench, record: await session.ended, interruption, warnings };
}

// Calls take their time in silence and speech: they share it, and the gateway, as callers do.
describe.concurrent.each(profiles)('against the %s platform', (profile) => {
  it('hears every turn, survives a cough, takes a key and ends as the bot says', async () => {
    const { record, warnings } = await conversation(profile);
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo bravo', '7', 'charlie']);
    expect([record.endReason, record.digits]).toEqual(['said-charlie', '7']);
    expect(warnings).toEqual([]);
  });

  it('stops within 300 ms when it is interrupted, and keeps what was heard', async () => {
    const { record, interruption } = await conversation(profile);
    expect(interruption.botSilentMs).toBeLessThan(300);
    expect(record.interruptions).toHaveLength(1);
    const interrupted = record.turns[1];
    expect(interrupted).toMatchObject({ interrupted: true });
    const heard = interrupted?.botHeardText.replace(/ ?[\w,]*—$/u, '') ?? 'nothing';
    expect(interrupted?.botText.startsWith(heard)).toBe(true);
  });

  it('records what the caller heard and said to within two frames', async () => {
    const { record, interruption } = await conversation(profile);
    const [left, right] = parseWav(readFileSync(record.recordingPath ?? '')).samples;
    if (left === undefined || right === undefined) throw new Error('the recording has no two channels');
    const { atMs, botSilentMs = Number.NaN } = interruption;
    const silentAtMs = atMs + botSilentMs;
    expect(Math.abs(lastSoundBefore(right, silentAtMs + 100) - silentAtMs)).toBeLessThanOrEqual(40);
    expect(Math.abs(firstSoundAfter(left, atMs - 100) - atMs)).toBeLessThanOrEqual(40);
    expect(rmsLevelDb(left.subarray((atMs + 50) * 8, (atMs + 250) * 8))).toBeGreaterThan(-20);
  });

  it('stores when the bot spoke and the caller cut in as the recording has it', async () => {
    const { record, interruption } = await conversation(profile);
    const stored = storedCall(record, 1);
    const [, right] = parseWav(readFileSync(record.recordingPath ?? '')).samples;
    if (right === undefined) throw new Error('the recording has no two channels');
    const recorded = (wallMs = Number.NaN): number => wallMs - (stored.recordingStartedAtMs ?? Number.NaN);
    for (const { botStartedAtMs } of stored.turns) {
      const atMs = Math.round(recorded(botStartedAtMs));
      // The engine begins with a tenth of a second of silence.
      const laterMs = firstSoundAfter(right, Math.max(0, atMs - 300)) - atMs;
      expect(laterMs).toBeGreaterThan(40);
      expect(laterMs).toBeLessThan(200);
    }
    const clear = stored.timeline.find(({ type }) => type === 'clear');
    const onsetMs = recorded(stored.startedAtMs + Number(clear?.['onsetMs']));
    expect(Math.abs(onsetMs - interruption.atMs)).toBeLessThanOrEqual(60);
  });

  it('analyses both sides, and stores the call', async () => {
    const { bench, record } = await conversation(profile);
    const analysis = analysisPath({ id: record.id, recordingPath: record.recordingPath }) ?? '';
    await eventually('the analysis', () => existsSync(analysis));
    expect(JSON.parse(readFileSync(analysis, 'utf8'))).toMatchObject({
      channels: [
        { role: 'caller', source: 'asr', text: expect.stringContaining('alpha') as unknown },
        { role: 'bot', source: 'ledger', text: expect.stringContaining('Goodbye then.') as unknown },
      ],
    });
    const stored = await bench.gateway.backlog.store.calls.get('default', record.id);
    expect(stored).toMatchObject({ endReason: 'said-charlie', digits: '7' });
  });
});

it.concurrent('plays three concurrent calls in full', async () => {
  const bench = benchOf('plain');
  const calls = await Promise.all([bench.dial(), bench.dial(), bench.dial()]);
  const sessions = calls.map((call) => bench.sessionOf(call));
  await Promise.all(
    calls.map((call) => new ScriptedCaller(call.stream).run([say('alpha'), say('charlie'), { kind: 'wait-for-end' }])),
  );
  const records = await Promise.all(sessions.map((session) => session.ended));
  for (const [index, record] of records.entries()) {
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'charlie']);
    // All of it was heard, no more and no less than by the first caller.
    expect(Math.abs(soundMs(calls[index]!.stream.buffer.heard) - soundMs(calls[0].stream.buffer.heard))).toBeLessThan(200);
  }
});

it.concurrent('continues the call when the carrier reconnects in the middle of a sentence', async () => {
  const bench = benchOf('plain');
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await eventually('the greeting', () => call.stream.buffer.heard.some((sample) => Math.abs(sample) > 1_000));
  call.stream.drop();
  await eventually('the detachment', () => !session.attached);
  const stream = await call.connect();
  await new ScriptedCaller(stream).run([say('charlie'), { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.attachments).toHaveLength(2);
  expect(record.recordingGaps).toHaveLength(1);
  expect(record.turns[0]).toMatchObject({ botHeardText: 'Hello there, please say a word.' });
  expect(record.endReason).toBe('said-charlie');
});

/** How long there was sound, in ms. */
function soundMs(pcm: Int16Array): number {
  let frames = 0;
  for (let at = 0; at + 160 <= pcm.length; at += 160) if (rmsLevelDb(pcm.subarray(at, at + 160)) > -45) frames += 1;
  return frames * 20;
}

/** End of the last 5 ms with sound before a moment, in ms. */
function lastSoundBefore(pcm: Int16Array, untilMs: number): number {
  for (let at = Math.floor(untilMs); at > 0; at -= 1) if (rmsLevelDb(pcm.subarray((at - 5) * 8, at * 8)) > -45) return at;
  return 0;
}

/** Start of the first 5 ms with sound after a moment, in ms. */
function firstSoundAfter(pcm: Int16Array, fromMs: number): number {
  for (let at = Math.floor(fromMs); at * 8 < pcm.length; at += 1)
    if (rmsLevelDb(pcm.subarray(at * 8, (at + 5) * 8)) > -45) return at;
  return Number.POSITIVE_INFINITY;
}
