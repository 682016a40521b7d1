// What a voice of a model costs, and how soon it speaks. Run: npm run -s bench -- voices [--model NAME --models FOLDER] [--language en] [--threads 1]
//   [--calls 1,4] [--json]
// Without a model, a Piper voice of medium quality with random weights: it costs what a trained one costs, and its sound is noise.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/kernel/clock.ts';
import { readModels } from '../../src/speech/models/read-models.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { piecesToSpeak, withModelVoices } from '../../src/platform/engines/models/model-voices.ts';
import { loadSherpa, openVoice } from '../../src/platform/engines/models/sherpa.ts';
import type { SynthesisEngine } from '../../src/platform/engines/synth/port.ts';
import { startSynthesizer } from '../../src/platform/engines/synth/synthesizer.ts';
import { writePiperVits } from '../../test/support/onnx/piper-vits.ts';
import { about, spread, type Spread } from '../document.ts';

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string' },
    models: { type: 'string', default: 'data/models' },
    language: { type: 'string', default: 'en' },
    threads: { type: 'string', default: '1' },
    calls: { type: 'string', default: '1,4' },
    json: { type: 'boolean', default: false },
  },
});
/** What bots say: a word, an answer, a read-back, two sentences. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Of course.',
    'Thank you, I have found your appointment.',
    'Your appointment is on Monday the fourth at half past ten, with Doctor Rao, in the clinic on the second floor.',
    'We are open from nine to five. On Saturdays we close at one, and on Sundays you can reach us by telephone only.',
  ],
  hi: [
    'जी हाँ।',
    'धन्यवाद, आपका अपॉइंटमेंट मिल गया है।',
    'आपका अपॉइंटमेंट सोमवार को सुबह साढ़े दस बजे डॉक्टर राव के साथ है, दूसरी मंज़िल पर।',
    'हम सुबह नौ से शाम पाँच बजे तक खुले हैं। शनिवार को एक बजे बंद करते हैं, और रविवार को केवल फ़ोन पर मिलते हैं।',
  ],
};
const texts = SENTENCES[flags.language] ?? SENTENCES['en'] ?? [];
const ROUNDS = 3;

const folder = flags.model === undefined ? mkdtempSync(join(tmpdir(), 'offhook-bench-voices-')) : flags.models;
if (flags.model === undefined) {
  await writePiperVits(join(folder, 'random-piper'), { languages: [flags.language] });
  writeFileSync(join(folder, 'used.json'), JSON.stringify({ voices: { [flags.language]: 'random-piper' } }));
}
try {
  const models = await readModels(folder);
  const voices = models.voices.filter(({ model }) => model.name === (flags.model ?? model.name));
  const [used] = voices;
  if (used === undefined) throw new Error(`${folder}: no voice is used by the name ${flags.model ?? ''}`);
  const cost = await measureCost(used.model);
  const opened = { modelsFolder: folder, models: { ...models, voices }, clock: systemClock, logger: silentLogger };
  const builtIn = await startSynthesizer({ clock: systemClock, logger: silentLogger });
  await using engine = await withModelVoices(builtIn, opened, Number(flags.threads));
  await speak(engine, texts[0] ?? '', 'live');
  const rows: Row[] = [];
  for (const calls of flags.calls.split(',').map(Number)) rows.push(await measureCalls(engine, calls, 0));
  rows.push(await measureCalls(engine, 1, 1));
  const document = { ...about(), model: used.model.name, kind: used.model.kind, threads: Number(flags.threads), ...cost, rows };
  process.stdout.write(flags.json ? `${JSON.stringify(document)}\n` : table(document));
} finally {
  if (flags.model === undefined) rmSync(folder, { recursive: true, force: true });
}

/** In this process, on one thread, so that its processor time and memory are those of the model. */
async function measureCost(model: Parameters<typeof openVoice>[1]): Promise<Cost> {
  const before = process.memoryUsage().rss;
  const voice = openVoice(loadSherpa(folder), model);
  const say = async (text: string): Promise<number> => {
    const made = await voice.generateAsync({ text, enableExternalBuffer: false, generationConfig: { sid: 0, speed: 1 } });
    const { samples, sampleRate } = made as { samples: Float32Array; sampleRate: number };
    return samples.length / sampleRate;
  };
  await say(texts[1] ?? '');
  let [seconds, coreMs] = [0, 0];
  const firstCoreMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [place, piece] of texts.flatMap((text) => [...piecesToSpeak(text).entries()])) {
      const from = process.cpuUsage();
      seconds += await say(piece);
      const { user, system } = process.cpuUsage(from);
      coreMs += (user + system) / 1_000;
      if (place === 0) firstCoreMs.push((user + system) / 1_000);
    }
  }
  const megabytes = (process.memoryUsage().rss - before) / 1e6;
  return { coreSecondsPerSecond: coreMs / 1_000 / seconds, firstCoreMs: spread(firstCoreMs), megabytes };
}

interface Cost {
  readonly coreSecondsPerSecond: number;
  /** Processor time of the piece that a text begins with: what the first audio waits for, on an idle core. */
  readonly firstCoreMs: Spread | null;
  readonly megabytes: number;
}

async function speak(
  engine: SynthesisEngine,
  text: string,
  priority: 'live' | 'batch',
): Promise<{ firstMs: number; seconds: number }> {
  const startMs = performance.now();
  let firstMs: number | undefined;
  let seconds = 0;
  const request = { text, voice: 'Nisha', language: flags.language, speed: 1, priority };
  for await (const { pcm, rateHz } of engine.synthesize(request, AbortSignal.timeout(120_000))) {
    firstMs ??= performance.now() - startMs;
    seconds += pcm.length / rateHz;
  }
  return { firstMs: firstMs ?? Number.NaN, seconds };
}

interface Row {
  readonly calls: number;
  readonly batches: number;
  readonly firstAudioMs: Spread | null;
  readonly p95: number;
  readonly speechSecondsPerSecond: number;
}

/** Calls that each ask for their next sentence as soon as they have the last one: more than any real call does. */
async function measureCalls(engine: SynthesisEngine, calls: number, batches: number): Promise<Row> {
  const over = { yes: false };
  const batch = Array.from({ length: batches }, async () => {
    while (!over.yes) await speak(engine, texts.join(' '), 'batch');
  });
  const startMs = performance.now();
  const heard = await Promise.all(
    Array.from({ length: calls }, async (_, call) => {
      const mine = [];
      for (let at = 0; at < ROUNDS * texts.length; at += 1)
        mine.push(await speak(engine, texts[(at + call) % texts.length] ?? '', 'live'));
      return mine;
    }),
  );
  const elapsedS = (performance.now() - startMs) / 1_000;
  over.yes = true;
  await Promise.all(batch);
  const all = heard.flat();
  const firsts = all.map(({ firstMs }) => firstMs).toSorted((a, b) => a - b);
  const speechS = all.reduce((sum, { seconds }) => sum + seconds, 0);
  const p95 = Math.round(firsts[Math.floor(firsts.length * 0.95)] ?? 0);
  return { calls, batches, firstAudioMs: spread(firsts), p95, speechSecondsPerSecond: speechS / elapsedS };
}

function table(
  document: ReturnType<typeof about> & Cost & { model: string; kind: string; threads: number; rows: readonly Row[] },
): string {
  const { machine, commit, load, model, kind, threads, coreSecondsPerSecond, firstCoreMs, megabytes, rows } = document;
  const lines = rows.map(
    ({ calls, batches, firstAudioMs, p95, speechSecondsPerSecond }) =>
      `| ${calls} | ${batches} | ${firstAudioMs?.median ?? '-'} | ${p95} | ${speechSecondsPerSecond.toFixed(1)} |`,
  );
  return `${[
    `${machine}; commit ${commit}; load ${load}`,
    `${model} (${kind}), ${threads} thread(s): ${coreSecondsPerSecond.toFixed(3)} core seconds for a second of speech, ${megabytes.toFixed(0)} MB`,
    `first piece of a text: ${firstCoreMs?.median ?? '-'} ms of a core (${firstCoreMs?.least ?? '-'} to ${firstCoreMs?.most ?? '-'})`,
    '',
    '| sentences at once | batches | first audio, median ms | p95 ms | seconds of speech per second |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')}\n`;
}
