import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import { encodeModel } from './acoustic-model.ts';
import { phraseWords } from './add-phrases.ts';
import { trainModel } from './train.ts';
import { phraseVoices, spokenUtterances, startTrainingSynthesizers, type TrainingSynthesizers } from './training-speech.ts';

const questionSchema = z.object({ id: z.number(), language: z.string(), phrase: z.string() });

// A thread that trains phrases outside the vocabulary, on voices that vocabularies are trained on. While it trains one, the synthesizers
// speak the next.
const started = new Map<'en' | 'others', Promise<TrainingSynthesizers>>();

/** The synthesizers of English speak the other languages too, but not the other way round. */
function synthesizersOf(language: string): Promise<TrainingSynthesizers> {
  const set = language === 'en' || started.has('en') ? 'en' : 'others';
  const synthesizers = started.get(set) ?? startTrainingSynthesizers(language);
  started.set(set, synthesizers);
  synthesizers.catch(() => started.delete(set));
  return synthesizers;
}

async function learn(language: string, phrase: string): Promise<Uint8Array> {
  const synthesizers = await synthesizersOf(language);
  const words = phraseWords(phrase);
  const whole = { text: words.join(' '), words: words.map((_, word) => word) };
  const utterances = await spokenUtterances(synthesizers, phraseVoices(language, new Set(synthesizers.keys())), ({ alone }) => [
    ...(alone && words.length > 1 ? words.map((text, word) => ({ text, words: [word] })) : []),
    whole,
  ]);
  return encodeModel(trainModel(words, utterances));
}

parentPort?.on('message', (message: unknown) => {
  const { id, language, phrase } = questionSchema.parse(message);
  learn(language, phrase).then(
    (model) => parentPort?.postMessage({ id, model }, []),
    (error: unknown) => parentPort?.postMessage({ id, reason: errorText(error) }, []),
  );
});
