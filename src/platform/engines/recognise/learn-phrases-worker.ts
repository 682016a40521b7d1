import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { systemClock } from '../../../kernel/clock.ts';
import { errorText } from '../../../kernel/errors.ts';
import { silentLogger } from '../../../observability/logger.ts';
import { EngineProcess } from '../synth/engine-process.ts';
import { encodeModel } from './acoustic-model.ts';
import { phraseWords } from './add-phrases.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { trainingUtterance } from './training-audio.ts';
import { trainingVoices } from './training-plan.ts';
import { type TrainingUtterance, trainModel } from './train.ts';

const questionSchema = z.object({ id: z.number(), language: z.string(), phrase: z.string() });

// A thread that trains phrases outside the vocabulary, one at a time, on the voices that vocabularies are trained on.
const processes = new Map<string, EngineProcess>();
let last: Promise<void> = Promise.resolve();

async function learn(language: string, phrase: string): Promise<Uint8Array> {
  const engines = language === 'en' ? (['espeak', 'flite'] as const) : (['espeak'] as const);
  for (const engine of engines) {
    const process = processes.get(engine) ?? (await EngineProcess.start({ engine, clock: systemClock, logger: silentLogger }));
    if (process !== undefined) processes.set(engine, process);
  }
  const voices = trainingVoices(language, new Set(engines));
  const words = phraseWords(phrase);
  const utterances: TrainingUtterance[] = [];
  for (const [index, voice] of voices.entries()) {
    const process = processes.get(voice.engine);
    if (process === undefined) continue;
    const random = seededRandom(1_000 + index);
    const alone = voice.alone && words.length > 1 ? words.map((text, word) => ({ text, words: [word] })) : [];
    for (const line of [...alone, { text: words.join(' '), words: words.map((_, word) => word) }]) {
      const { pcm, rateHz } = await process.render({
        text: line.text,
        voice: voice.voice,
        speed: voice.speed,
        pitch: voice.pitch,
      });
      utterances.push(trainingUtterance(pcm, rateHz, line.words, random));
    }
  }
  return encodeModel(trainModel(words, utterances));
}

parentPort?.on('message', (message: unknown) => {
  const { id, language, phrase } = questionSchema.parse(message);
  last = last
    .then(() => learn(language, phrase))
    .then(
      (model) => parentPort?.postMessage({ id, model }, []),
      (error: unknown) => parentPort?.postMessage({ id, reason: errorText(error) }, []),
    );
});
