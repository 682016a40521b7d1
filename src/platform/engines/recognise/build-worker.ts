import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { type AcousticModel, encodeModel } from './acoustic-model.ts';
import { type Grammar, readGrammar, compileNetwork } from './grammar.ts';
import { trainingLines, trainingVoices, spokenUtterances, startTrainingSynthesizers } from './training-speech.ts';
import { trainModel } from './train.ts';

/**
 * Trains the words of a grammar on the speech of the installed synthesizers. Takes many seconds of CPU.
 * @throws RangeError when no synthesizer speaks the language
 */
async function buildModel(grammar: Grammar): Promise<AcousticModel> {
  const network = compileNetwork(grammar);
  const synthesizers = await startTrainingSynthesizers(grammar.language);
  try {
    const voices = trainingVoices(grammar.language, new Set(synthesizers.keys()));
    const utterances = await spokenUtterances(synthesizers, voices, (voice, index) => trainingLines(network, voice, 100 + index));
    return trainModel(network.words, utterances);
  } finally {
    await Promise.all([...synthesizers.values()].map((process) => process[Symbol.asyncDispose]()));
  }
}

// A thread that trains one language and writes the model to disk, whole or not at all.
const { vocabularyFile, modelFile } = z.object({ vocabularyFile: z.string(), modelFile: z.string() }).parse(workerData);
const model = await buildModel(readGrammar(await readFile(vocabularyFile, 'utf8')));
const unfinished = `${modelFile}.${randomBytes(6).toString('hex')}`;
await writeFile(unfinished, encodeModel(model));
await rename(unfinished, modelFile);
