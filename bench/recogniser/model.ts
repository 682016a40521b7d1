// Recognition with a speech model: words wrong, waits, processor and memory, by the model alone, behind the embedded platform and in calls.
// Run: npm run bench -- recogniser --model NAME [--models data/models] [--audio FOLDER] [--language en] [--most 300] [--calls 8] [--missed] [--json]
// NAME is an installed model, or random-zipformer2: a streaming transducer of published shape and 70 MB, which hears nonsense.
// FOLDER has WAV files, each with its text beside it (name.txt), or a manifest.csv with columns file and text.
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { RecognitionModel } from '../../src/speech/models/model.ts';
import { readModel } from '../../src/speech/models/read-models.ts';
import { type OpenedRecogniser, openRecogniser } from '../../src/platform/engines/models/open-recogniser.ts';
import { loadSherpa } from '../../src/platform/engines/models/sherpa.ts';
import { WordErrorCount } from '../../src/sim/caller/word-errors.ts';
import { writeZipformer2 } from '../onnx/zipformer2.ts';
import { printDocument, readOptions, round } from '../document.ts';
import { type Clip, HUMAN_FOLDER, readClips } from '../recordings.ts';
import { asFiles, asStreams, type Missed, startWith, tally } from './through-platform.ts';
import { inThread } from './in-thread.ts';
import { inNoise } from './noise.ts';
import { inCalls } from './whole-calls.ts';

/** Those without `--only`; `noise` is another one. */
const PARTS = ['alone', 'thread', 'files', 'streams', 'calls'];
/** One of `every` so many utterances, at `most` so many, `calls` at once; `missed` shows the texts with an error. */
const values = readOptions({
  model: 'random-zipformer2',
  models: 'data/models',
  audio: HUMAN_FOLDER,
  language: '',
  most: '300',
  every: '1',
  bot: 'listen',
  calls: '8',
  only: PARTS.join(','),
  missed: false,
});
const RANDOM = 'random-zipformer2';
const LEVEL_DB = -22;
/** A quiet line. */
const LINE_NOISE = 0.001;

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

const random = seededRandom(11);
const quiet = (ms: number): Int16Array => noise(ms, 8_000, LINE_NOISE, random);

/** Each clip as it is, decoded by the library in one piece: what the model can do. Null for one that hears streams alone. */
async function alone(opened: OpenedRecogniser, language: string, clips: readonly Clip[]) {
  if (opened.type === 'streaming') return null;
  const count = new WordErrorCount();
  const missed: Missed[] = [];
  for (const { pcm, text } of clips) {
    const heard = await opened.decode({ pcm, rateHz: 8_000, language, hints: [] });
    tally(count, missed, text, heard.text);
  }
  return { words: count.words, wordErrorPercent: round(count.percent), missed };
}

const model = await describedModel();
const before = process.memoryUsage.rss();
const language = values.language || (model.languages.find((code) => code !== 'auto') ?? 'auto');
const opened = openRecogniser(loadSherpa(resolve(values.models)), model, [language], systemClock);
const memoryMb = Math.round((process.memoryUsage.rss() - before) / 1e6);
const utterances = readClips(values.audio, LEVEL_DB);
if (utterances.length === 0) throw new Error(`${values.audio} holds no WAV files`);
const clips = utterances.filter((_, index) => index % Number(values.every) === 0).slice(0, Number(values.most));
const parts = new Set(values.only.split(','));
const measured: Record<string, object | null> = {};
if (parts.has('alone')) measured['alone'] = await alone(opened, language, clips);
if (parts.has('thread')) measured['thread'] = await inThread(opened, language, clips, quiet);
if (parts.has('noise')) measured['noise'] = await inNoise(opened, language, clips, quiet, LEVEL_DB);
const residentMb = Math.round(process.memoryUsage.rss() / 1e6);
if (values.model !== RANDOM && ['files', 'streams', 'calls'].some((part) => parts.has(part))) {
  await using platform = await startWith(values.models, values.model, language);
  const calls = Number(values.calls);
  if (parts.has('files')) measured['files'] = await asFiles(platform, clips, language);
  if (parts.has('streams')) measured['streams'] = await asStreams(platform, clips, { language, streams: calls, quiet });
  if (parts.has('calls')) measured['calls'] = await inCalls(platform, clips, calls, values.bot);
}
const shown = Object.entries(measured).map(([part, figures]) => {
  if (values.missed || figures === null) return [part, figures];
  const { missed: _missed, ...rest } = figures as { readonly missed?: readonly Missed[] };
  return [part, rest];
});
printDocument({ model: `${model.name} (${model.kind})`, memoryMb, residentMb, ...Object.fromEntries(shown) });
