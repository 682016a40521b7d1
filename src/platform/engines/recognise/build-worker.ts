import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { systemClock } from '../../../kernel/clock.ts';
import { silentLogger } from '../../../observability/logger.ts';
import { EngineProcess } from '../synth/engine-process.ts';
import { type AcousticModel, encodeModel } from './acoustic-model.ts';
import { type Grammar, readGrammar } from './grammar.ts';
import { compileNetwork } from './network.ts';
import { seededRandom } from '../../../audio/tone.ts';
import { trainingUtterance } from './training-audio.ts';
import { trainingLines, trainingVoices } from './training-plan.ts';
import { type TrainingUtterance, trainModel } from './train.ts';

/** Requests in flight to a synthesizer's process, so that it never idles. */
const AHEAD = 4;

/**
 * Trains the words of a grammar on the speech of the installed synthesizers. Takes many seconds of CPU.
 * @throws RangeError when no synthesizer speaks the language
 */
async function buildModel(grammar: Grammar): Promise<AcousticModel> {
  const network = compileNetwork(grammar);
  const started = await Promise.all(
    (['espeak', 'flite'] as const).map(async (engine) => {
      if (engine === 'flite' && grammar.language !== 'en') return [];
      const process = await EngineProcess.start({ engine, clock: systemClock, logger: silentLogger });
      return process === undefined ? [] : [[engine, process] as const];
    }),
  );
  const processes = new Map(started.flat());
  try {
    const voices = trainingVoices(grammar.language, new Set(processes.keys()));
    const utterances = await Promise.all(
      [...processes].map(async ([engine, process]) => {
        const spokenByEngine: TrainingUtterance[] = [];
        for (const [index, voice] of voices.entries()) {
          if (voice.engine !== engine) continue;
          const random = seededRandom(1_000 + index);
          const lines = trainingLines(network, voice, 100 + index);
          for (let at = 0; at < lines.length; at += AHEAD) {
            const batch = lines.slice(at, at + AHEAD);
            const { voice: name, speed, pitch } = voice;
            const spoken = await Promise.all(
              batch.map(async ({ text, words }) => ({
                ...(await process.render({ text, voice: name, speed, pitch })),
                words,
              })),
            );
            for (const { pcm, rateHz, words } of spoken) spokenByEngine.push(trainingUtterance(pcm, rateHz, words, random));
          }
        }
        return spokenByEngine;
      }),
    );
    return trainModel(network.words, utterances.flat());
  } finally {
    await Promise.all([...processes.values()].map((process) => process[Symbol.asyncDispose]()));
  }
}

// A thread that trains one language and writes the model to disk, whole or not at all.
const { vocabularyFile, modelFile } = z.object({ vocabularyFile: z.string(), modelFile: z.string() }).parse(workerData);
const model = await buildModel(readGrammar(await readFile(vocabularyFile, 'utf8')));
const unfinished = `${modelFile}.${randomBytes(6).toString('hex')}`;
await writeFile(unfinished, encodeModel(model));
await rename(unfinished, modelFile);
