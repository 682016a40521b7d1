// What a voice of a model costs, and how soon it speaks. Run: npm run -s bench -- voices [--model NAME --models FOLDER] [--language en] [--threads 1]
//   [--calls 1,4] [--json]
// Without a model, a Piper voice of medium quality with random weights: it costs what a trained one costs, and its sound is noise.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { readModels } from '../../src/speech/models/read-models.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { piecesToSpeak, withModelVoices } from '../../src/platform/engines/models/model-voices.ts';
import { loadSherpa, openVoice } from '../../src/platform/engines/models/sherpa.ts';
import type { SynthesisEngine } from '../../src/platform/engines/synth/port.ts';
import { startSynthesizer } from '../../src/platform/engines/synth/synthesizer.ts';
import { writePiperVits } from '../onnx/piper-vits.ts';
import { printDocument, quantiles, readOptions, spread } from '../document.ts';

const flags = readOptions({ model: '', models: 'data/models', language: 'en', threads: '1', calls: '1,4' });
const isRandom = flags.model === '';
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

const folder = isRandom ? mkdtempSync(join(tmpdir(), 'offhook-bench-voices-')) : flags.models;
if (isRandom) {
  await writePiperVits(join(folder, 'random-piper'), { languages: [flags.language] });
  writeFileSync(join(folder, 'used.json'), JSON.stringify({ voices: { [flags.language]: 'random-piper' } }));
}
try {
  const models = await readModels(folder);
  const voices = models.voices.filter(({ model }) => isRandom || model.name === flags.model);
  const [used] = voices;
  if (used === undefined) throw new Error(`${folder}: no voice is used by the name ${flags.model}`);
  const cost = await measureCost(used.model);
  const opened = { modelsFolder: folder, models: { ...models, voices }, clock: systemClock, logger: silentLogger };
  const builtIn = await startSynthesizer({ clock: systemClock, logger: silentLogger });
  await using engine = await withModelVoices(builtIn, opened, Number(flags.threads));
  await speak(engine, texts[0] ?? '');
  const rows: object[] = [];
  for (const calls of flags.calls.split(',').map(Number)) rows.push(await measureCalls(engine, calls));
  printDocument({ model: used.model.name, kind: used.model.kind, threads: Number(flags.threads), ...cost, rows });
} finally {
  if (isRandom) rmSync(folder, { recursive: true, force: true });
}

/** In this process, on one thread, so that its processor time and memory are those of the model. */
async function measureCost(model: Parameters<typeof openVoice>[1]) {
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
  // The first piece of a text is what the first audio waits for, on an idle core.
  return { coreSecondsPerSecond: coreMs / 1_000 / seconds, firstCoreMs: spread(firstCoreMs), megabytes };
}

async function speak(engine: SynthesisEngine, text: string): Promise<{ firstMs: number; seconds: number }> {
  const startMs = performance.now();
  let firstMs: number | undefined;
  let seconds = 0;
  const request = { text, voice: 'Nisha', language: flags.language, speed: 1, priority: 'live' as const };
  for await (const { pcm, rateHz } of engine.synthesize(request, AbortSignal.timeout(120_000))) {
    firstMs ??= performance.now() - startMs;
    seconds += pcm.length / rateHz;
  }
  return { firstMs: firstMs ?? Number.NaN, seconds };
}

/** Calls that each ask for their next sentence as soon as they have the last one: more than any real call does. */
async function measureCalls(engine: SynthesisEngine, calls: number) {
  const startMs = performance.now();
  const heard = await Promise.all(
    Array.from({ length: calls }, async (_, call) => {
      const mine = [];
      for (let at = 0; at < ROUNDS * texts.length; at += 1)
        mine.push(await speak(engine, texts[(at + call) % texts.length] ?? ''));
      return mine;
    }),
  );
  const elapsedS = (performance.now() - startMs) / 1_000;
  const all = heard.flat();
  const firstAudioMs = quantiles(all.map(({ firstMs }) => firstMs));
  const speechS = all.reduce((sum, { seconds }) => sum + seconds, 0);
  return { calls, firstAudioMs, speechSecondsPerSecond: speechS / elapsedS };
}
