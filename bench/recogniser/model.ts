// Recognition with a speech model: words wrong, time to the final, and what it costs, on a core that it has for itself (CoreClock).
// Run: npm run bench -- recogniser --model NAME [--models data/models] [--audio FOLDER] [--language en] [--calls 1,16,25,32] [--json]
// NAME is an installed model, or random-zipformer2: a streaming transducer of published shape and 70 MB, which hears nonsense.
// FOLDER has WAV files, each with its text beside it (name.txt), or a manifest.csv with columns file and text.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { activeLevelDb, amplify } from '../../src/audio/level.ts';
import { resample } from '../../src/audio/resample.ts';
import { joinSamples } from '../../src/audio/samples.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { RecognitionModel } from '../../src/speech/models/model.ts';
import { readModel } from '../../src/speech/models/read-models.ts';
import { type OpenedRecogniser, openRecogniser } from '../../src/platform/engines/models/open-recogniser.ts';
import { loadSherpa } from '../../src/platform/engines/models/sherpa.ts';
import { writeZipformer2 } from '../../test/support/onnx/zipformer2.ts';
import { quantiles, round } from '../capacity/quantiles.ts';
import { about } from '../document.ts';
import { manifestTexts } from './manifest.ts';
import { runTurns, type Turn } from './calls.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'random-zipformer2' },
    models: { type: 'string', default: 'data/models' },
    audio: { type: 'string', default: new URL('../../../shared/audio/human', import.meta.url).pathname },
    language: { type: 'string' },
    calls: { type: 'string', default: '1,8,16,25,32,40' },
    /** Of a load. */
    seconds: { type: 'string', default: '30' },
    /** Utterances of the word error rate. */
    most: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
});
const RANDOM = 'random-zipformer2';
const LEVEL_DB = -22;
/** A quiet line. */
const LINE_NOISE = 0.001;
/** Silence after which a caller's turn is committed, as in a call. */
const ENDPOINT_MS = 600;

interface Utterance {
  readonly name: string;
  /** At 8 kHz and usual loudness. */
  readonly pcm: Int16Array;
  readonly text: string | undefined;
}

async function describedModel(): Promise<RecognitionModel> {
  const folder = values.model === RANDOM ? join(tmpdir(), 'offhook-bench-models') : resolve(values.models);
  if (values.model === RANDOM && !existsSync(join(folder, RANDOM, 'model.json'))) {
    mkdirSync(folder, { recursive: true });
    writeZipformer2(join(folder, RANDOM), { name: RANDOM });
  }
  const model = await readModel(folder, values.model);
  if (model?.role !== 'recognition') throw new Error(`${join(folder, values.model)} holds no recognition model`);
  const files = Object.entries(model.files).map(([role, file]) => [role, join(folder, values.model, String(file))]);
  return { ...model, files: Object.fromEntries(files) };
}

function readUtterances(folder: string): Utterance[] {
  const manifest = join(folder, 'manifest.csv');
  const texts = existsSync(manifest) ? manifestTexts(readFileSync(manifest, 'utf8')) : new Map<string, string>();
  return readdirSync(folder)
    .filter((name) => name.endsWith('.wav'))
    .toSorted()
    .map((name) => {
      const { samples, rateHz } = parseWav(readFileSync(join(folder, name)));
      const narrow = resample(samples[0] ?? new Int16Array(0), rateHz, 8_000);
      const beside = join(folder, name.replace(/\.wav$/u, '.txt'));
      const text = existsSync(beside) ? readFileSync(beside, 'utf8').trim() : texts.get(name);
      const gainDb = LEVEL_DB - activeLevelDb(narrow, 8_000);
      return { name, pcm: amplify(narrow, gainDb), text: text === '' ? undefined : text };
    });
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}']+/gu, ' ')
    .trim()
    .split(' ')
    .filter((word) => word !== '');

/** Words to be inserted, deleted or replaced. */
function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let row = Array.from({ length: heard.length + 1 }, (_, index) => index);
  for (const [index, word] of said.entries()) {
    const above = row;
    row = [index + 1];
    for (const [at, other] of heard.entries()) {
      const replaced = (above[at] ?? 0) + (word === other ? 0 : 1);
      row.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}

const random = seededRandom(11);
const quiet = (ms: number): Int16Array => noise(ms, 8_000, LINE_NOISE, random);

/** One utterance after another, on a line of its own. */
async function accuracy(opened: OpenedRecogniser, language: string, utterances: readonly Utterance[]) {
  let atMs = 0;
  const turns = utterances.map(({ pcm }): Turn => {
    const fromMs = atMs;
    const voiceEndMs = 300 + pcm.length / 8;
    atMs += voiceEndMs + ENDPOINT_MS + 200;
    return { call: 0, fromMs, pcm: joinSamples([quiet(300), pcm, quiet(ENDPOINT_MS)]), voiceMs: 300, voiceEndMs, commits: true };
  });
  const run = await runTurns(opened, language, turns);
  let words = 0;
  let errors = 0;
  for (const { turn, result } of run.answered) {
    const said = wordsOf(utterances[turns.indexOf(turn)]?.text ?? '');
    if (said.length === 0) continue;
    words += said.length;
    errors += wordErrors(said, wordsOf(result.text));
  }
  return {
    utterances: utterances.length,
    words,
    'word error rate %': words === 0 ? null : round((100 * errors) / words),
    'final ms p50': quantiles(run.answered.map(({ finalMs }) => finalMs)).p50,
    'final ms p95': quantiles(run.answered.map(({ finalMs }) => finalMs)).p95,
    'first partial ms p50': quantiles(run.answered.flatMap(({ firstPartialMs }) => firstPartialMs ?? [])).p50,
    'CPU ms a second of audio': round(run.busyMs / (run.audioMs / 1_000), 1),
  };
}

/** Calls at once on one thread. A caller speaks for two to five seconds and hears the bot for as long, or speaks all the time. */
async function load(
  opened: OpenedRecogniser,
  language: string,
  utterances: readonly Utterance[],
  calls: number,
  isTalk: boolean,
) {
  const lengthMs = 1_000 * Number(values.seconds);
  const turns: Turn[] = [];
  let spokenMs = 0;
  for (let call = 0; call < calls; call += 1) {
    let atMs = random() * 4_000;
    while (atMs < lengthMs) {
      const parts: Int16Array[] = [];
      const wantedMs = 2_000 + random() * 3_000;
      for (let ms = 0; ms < wantedMs;) {
        const { pcm } = utterances[Math.floor(random() * utterances.length)] ?? { pcm: quiet(1_000) };
        const taken = pcm.subarray(0, Math.round((wantedMs - ms) * 8));
        parts.push(taken);
        ms += Math.max(20, taken.length / 8);
      }
      const spoken = joinSamples(parts);
      spokenMs += spoken.length / 8;
      const beforeMs = isTalk ? 100 : wantedMs;
      const pcm = joinSamples([quiet(beforeMs), spoken, quiet(isTalk ? 0 : ENDPOINT_MS)]);
      const voiceEndMs = beforeMs + spoken.length / 8;
      turns.push({ call, fromMs: atMs, pcm, voiceMs: beforeMs, voiceEndMs, commits: true });
      atMs += pcm.length / 8;
    }
  }
  const run = await runTurns(opened, language, turns);
  const finals = quantiles(run.answered.map(({ finalMs }) => finalMs));
  return {
    calls,
    callers: isTalk ? 'speak on, committed at once' : `in turns, committed after ${ENDPOINT_MS} ms`,
    'speaking %': Math.round((100 * spokenMs) / run.audioMs),
    'core %': Math.round((100 * run.busyMs) / run.lastedMs),
    'final ms p50': finals.p50,
    'final ms p95': finals.p95,
    'final ms p99': finals.p99,
    finals: finals.n,
    'first partial ms p50': quantiles(run.answered.flatMap(({ firstPartialMs }) => firstPartialMs ?? [])).p50,
  };
}

const model = await describedModel();
const before = process.memoryUsage.rss();
const language = values.language ?? model.languages.find((code) => code !== 'auto') ?? 'auto';
const opened = openRecogniser(loadSherpa(resolve(values.models)), model, [language], systemClock);
const memoryMb = Math.round((process.memoryUsage.rss() - before) / 1e6);
const utterances = readUtterances(values.audio);
if (utterances.length === 0) throw new Error(`${values.audio} holds no WAV files`);
const heard = values.model === RANDOM ? undefined : await accuracy(opened, language, utterances.slice(0, Number(values.most)));
const loads: object[] = [];
for (const isTalk of [false, true]) {
  for (const calls of values.calls.split(',').map(Number)) loads.push(await load(opened, language, utterances, calls, isTalk));
}
const residentMb = Math.round(process.memoryUsage.rss() / 1e6);
const report = { ...about(), model: `${model.name} (${model.kind})`, memoryMb, residentMb, heard, loads };
if (values.json) console.log(JSON.stringify(report));
else {
  console.log({ ...report, heard: undefined, loads: undefined });
  if (heard !== undefined) console.table([heard]);
  console.table(loads);
}
