// Recognition with a speech model: words wrong, and processor time of the audio and of the final.
// Run: npm run bench -- recogniser --model NAME [--models data/models] [--audio FOLDER] [--language en] [--most 200] [--json]
// NAME is an installed model, or random-zipformer2: a streaming transducer of published shape and 70 MB, which hears nonsense.
// FOLDER has WAV files, each with its text beside it (name.txt), or a manifest.csv with columns file and text.
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { joinSamples } from '../../src/audio/samples.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { RecognitionModel } from '../../src/speech/models/model.ts';
import { readModel } from '../../src/speech/models/read-models.ts';
import { type OpenedRecogniser, openRecogniser } from '../../src/platform/engines/models/open-recogniser.ts';
import { RecognitionThread } from '../../src/platform/engines/models/recognition-thread.ts';
import { loadSherpa } from '../../src/platform/engines/models/sherpa.ts';
import { writeZipformer2 } from '../../test/support/onnx/zipformer2.ts';
import { printDocument, quantiles, readOptions, round } from '../document.ts';
import { type Clip, HUMAN_FOLDER, readClips } from '../recordings.ts';

/** At `most` so many utterances. */
const values = readOptions({
  model: 'random-zipformer2',
  models: 'data/models',
  audio: HUMAN_FOLDER,
  language: '',
  most: '200',
});
const RANDOM = 'random-zipformer2';
const LEVEL_DB = -22;
/** A quiet line. */
const LINE_NOISE = 0.001;
/** Silence after which a caller's turn is committed, as in a call. */
const ENDPOINT_MS = 600;
const FRAME = 160;

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

/** One utterance after another, each on a stream of its own, as fast as the processor takes it. */
async function accuracy(opened: OpenedRecogniser, language: string, clips: readonly Clip[]) {
  const thread = new RecognitionThread([{ languages: [language], model: opened }], systemClock, () => undefined);
  const finalMs: number[] = [];
  let [words, errors, audioS, coreMs] = [0, 0, 0, 0];
  for (const { pcm, text } of clips) {
    const outputs = {
      emit: () => undefined,
      fail: (error: unknown) => {
        throw error;
      },
    };
    const session = thread.open({ language, rateHz: 8_000, boostPhrases: [] }, outputs);
    const line = joinSamples([quiet(300), pcm, quiet(ENDPOINT_MS)]);
    const before = process.cpuUsage();
    for (let from = 0; from < line.length; from += FRAME) {
      session.push(line.subarray(from, from + FRAME));
      while (thread.turn());
    }
    await thread.segmentsDecoded();
    const committed = process.cpuUsage();
    const answer = { heard: undefined as string | undefined };
    void Promise.resolve(session.commit()).then((results) => (answer.heard = results.map((each) => each.text).join(' ')));
    while (answer.heard === undefined) {
      thread.turn();
      await setImmediate();
      await thread.segmentsDecoded();
    }
    finalMs.push(coreMsSince(committed));
    coreMs += coreMsSince(before);
    session.close?.();
    audioS += line.length / 8_000;
    const said = wordsOf(text);
    words += said.length;
    if (said.length > 0) errors += wordErrors(said, wordsOf(answer.heard));
  }
  return {
    utterances: clips.length,
    words,
    wordErrorPercent: words === 0 ? null : round((100 * errors) / words),
    coreMsFromCommitToFinal: quantiles(finalMs),
    coreMsPerSecondOfAudio: round(coreMs / audioS),
  };
}

function coreMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const model = await describedModel();
const before = process.memoryUsage.rss();
const language = values.language || (model.languages.find((code) => code !== 'auto') ?? 'auto');
const opened = openRecogniser(loadSherpa(resolve(values.models)), model, [language], systemClock);
const memoryMb = Math.round((process.memoryUsage.rss() - before) / 1e6);
const utterances = readClips(values.audio, LEVEL_DB);
if (utterances.length === 0) throw new Error(`${values.audio} holds no WAV files`);
const heard = await accuracy(opened, language, utterances.slice(0, Number(values.most)));
const residentMb = Math.round(process.memoryUsage.rss() / 1e6);
printDocument({ model: `${model.name} (${model.kind})`, memoryMb, residentMb, heard });
