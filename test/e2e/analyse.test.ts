import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resample } from '../../src/audio/resample.ts';
import { parseWav, wavFile } from '../../src/audio/wav.ts';
import { recordingAnalysis } from '../../src/records/analysis/document.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import { eventually } from '../support/eventually.ts';
import { lastJson, runCommand } from '../support/command.ts';
import { type SharedPlatform, startSharedPlatform } from './run-offhook.ts';
import { hangs } from '../support/patience.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-analyse-'));
const recordings = join(folder, 'recordings');
const out = join(folder, 'out');
let platform: SharedPlatform;
let env: Record<string, string>;

/** What each side says, and the silence that makes every recording another one. */
const AGENT = 'what are your opening hours';
const CUSTOMER = 'I would like to book an appointment on Tuesday';
const COUNT = 4;
const profile = join(folder, 'bookings.yaml');
const PROFILE = `
name: bookings
language: en
insights: { intent: { choices: [book appointment, cancel] } }
fields: [{ name: day, type: date, by: customer, rules: [{ understand: day }] }]
checklist: [{ id: asked, question: Asked?, pass: { said: { phrases: [opening hours], by: agent } } }]
disposition: { outcomes: [{ value: booked, when: { field: { name: day } } }], otherwise: open }
`;

beforeAll(async () => {
  mkdirSync(recordings);
  writeFileSync(profile, PROFILE);
  platform = await startSharedPlatform(join(folder, 'platform'));
  env = { ...platform.env, OFFHOOK_DATA_DIR: join(folder, 'data') };
  await using speech = new SpeechPlatform(platform.settings);
  const say = async (text: string, voice: string): Promise<Int16Array> => {
    const spoken = await speech.synthesize({ text, voice, language: 'en', format: 'wav' }, hangs());
    const wav = parseWav(await buffer(Readable.from(spoken.audio)));
    return resample(wav.samples[0]!, wav.rateHz, 16_000);
  };
  const agent = await say(AGENT, 'Nisha');
  const customer = await say(CUSTOMER, 'Rajesh');
  for (let n = 1; n <= COUNT; n += 1) {
    const lead = 8_000 + n * 160;
    const stereo = new Int16Array(2 * (lead + agent.length + customer.length + 16_000));
    agent.forEach((sample, at) => (stereo[2 * (lead + at) + 1] = sample));
    customer.forEach((sample, at) => (stereo[2 * (lead + agent.length + 8_000 + at)] = sample));
    writeFileSync(join(recordings, `call-${n}.wav`), wavFile(stereo, 16_000, 2));
  }
  writeFileSync(join(recordings, 'empty.wav'), '');
  writeFileSync(join(recordings, 'notes.wav'), 'these are notes and no audio');
  writeFileSync(join(recordings, 'cut.wav'), readFileSync(join(recordings, 'call-1.wav')).subarray(0, 30_000));
  writeFileSync(join(recordings, 'silence.wav'), wavFile(new Int16Array(30 * 16_000), 16_000));
});

afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const documents = (): string[] => readdirSync(out).filter((name) => name.startsWith('call-') && name.endsWith('.json'));
const manifest = (): string[] => readFileSync(join(out, 'manifest.jsonl'), 'utf8').trim().split('\n');
const args = ['analyse', recordings, '--profile', profile, '--out', out, '--json'];

describe('a run that follows a killed one', () => {
  interface Told {
    readonly done: number;
    readonly skipped: number;
    readonly failed: readonly { readonly name: string; readonly reason: string }[];
    readonly results: readonly string[];
  }
  /** When the killed run wrote its documents, by name. */
  let before: ReadonlyMap<string, number>;
  /** How many recordings the killed run had finished. */
  let begun: number;
  let code: number | null;
  let told: Told;

  beforeAll(async () => {
    const bin = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));
    const killed = spawn(process.execPath, [bin, ...args, '--concurrency', '1'], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const exited = once(killed, 'exit');
    await eventually('two recordings to be done', () => existsSync(join(out, 'manifest.jsonl')) && manifest().length >= 2);
    killed.kill('SIGKILL');
    await exited;
    before = new Map(documents().map((name) => [name, statSync(join(out, name)).mtimeMs]));
    begun = manifest().length;
    const finished = await runCommand([...args, '--export', 'csv', 'vtt'], env);
    code = finished.code;
    told = lastJson(finished) as Told;
  });

  it('analyses what the killed run had not finished', () => {
    expect(before.size).toBeLessThan(COUNT);
    expect([told.skipped, told.done + told.skipped]).toEqual([begun, COUNT]);
    expect(told.results).toHaveLength(COUNT);
    expect(documents()).toHaveLength(COUNT);
  });

  it('leaves the documents of the killed run untouched', () => {
    const kept = manifest()
      .slice(0, begun)
      .map((line) => (JSON.parse(line) as { result: string }).result);
    for (const name of kept) expect(statSync(join(out, name)).mtimeMs).toBe(before.get(name));
    expect(readdirSync(out).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('names every recording that cannot be analysed, with a reason, and exits with 1', () => {
    expect(code).toBe(1);
    const names = ['cut.wav', 'empty.wav', 'notes.wav', 'silence.wav'];
    expect(new Set(told.failed.map(({ name }) => name))).toEqual(new Set(names.map((name) => join(recordings, name))));
    expect(told.failed.filter(({ reason }) => reason === '')).toEqual([]);
  });

  it('writes channels, measures, quality, fields and outcome into each document', () => {
    const document = recordingAnalysis.parse(JSON.parse(readFileSync(told.results[0] ?? '', 'utf8')));
    expect(document.channels.map(({ role, text }) => [role, text])).toEqual([
      ['customer', CUSTOMER],
      ['agent', AGENT],
    ]);
    expect(document.measures.roles[0]?.speechS).toBeGreaterThan(1);
    expect(document.measures.interruptions).toEqual([]);
    expect(document.quality).toMatchObject({
      score: 100,
      items: [{ result: 'pass', grounds: [{ kind: 'words', text: 'opening hours', role: 'agent' }] }],
    });
    expect(document.fields).toMatchObject([{ name: 'day', evidence: [{ text: 'Tuesday', channel: 0, segment: 0 }] }]);
    expect([document.disposition?.value, document.insights.intent]).toEqual(['booked', 'book appointment']);
  });

  it('exports one table row for each document', () => {
    const table = readdirSync(out).find((name) => name.endsWith('.csv')) ?? '';
    expect(readFileSync(join(out, table), 'utf8').split('\r\n')).toHaveLength(COUNT + 2);
  });
});

it('skips finished recordings on a second run, and keeps the first result when another profile runs', async () => {
  const good = ['call-1.wav', 'call-2.wav'].map((name) => join(recordings, name));
  const again = await runCommand(['analyse', ...good, '--profile', profile, '--out', out, '--json'], env);
  expect([again.code, lastJson(again)]).toMatchObject([0, { ok: true, done: 0, skipped: 2, failed: [] }]);
  const other = await runCommand(['analyse', good[0]!, '--profile', 'default', '--out', out, '--json'], env);
  expect([other.code, lastJson(other)]).toMatchObject([0, { done: 1 }]);
  expect(documents().filter((name) => name.startsWith('call-1.'))).toHaveLength(2);
});

it('exits with 2 without a profile, without recordings, or with a refused key', async () => {
  const runs = await Promise.all([
    runCommand(['analyse', recordings, '--profile', 'nobody', '--out', join(folder, 'o1'), '--json'], env),
    runCommand(['analyse', join(folder, 'nothing'), '--out', join(folder, 'o2'), '--json'], env),
    runCommand(['analyse', join(recordings, 'call-1.wav'), '--out', join(folder, 'o3'), '--json'], {
      ...env,
      OFFHOOK_API_KEY: 'wrong',
    }),
  ]);
  expect(runs.map(({ code }) => code)).toEqual([2, 2, 2]);
  for (const run of runs) expect(lastJson(run)).toMatchObject({ ok: false });
});
