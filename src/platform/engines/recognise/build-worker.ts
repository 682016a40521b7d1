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
import { hearings } from './training-audio.ts';
import { trainingLines, trainingVoices } from './training-plan.ts';
import { type TrainingUtterance, trainModel } from './train.ts';

/** Requests a synthesizer's process holds at once, so that it never waits for us. */
const AHEAD = 4;

/**
 * Learns a grammar's words from what the installed synthesizers say. Takes seconds of CPU: run it in a worker.
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
    const heard = await Promise.all(
      [...processes].map(async ([engine, process]) => {
        const utterances: TrainingUtterance[] = [];
        for (const [index, voice] of voices.entries()) {
          if (voice.engine !== engine) continue;
          const random = seededRandom(1_000 + index);
          const lines = trainingLines(network, voice, 100 + index);
          for (let at = 0; at < lines.length; at += AHEAD) {
            const some = lines.slice(at, at + AHEAD);
            const { voice: name, speed, pitch } = voice;
            const spoken = await Promise.all(some.map(({ text }) => process.render({ text, voice: name, speed, pitch })));
            spoken.forEach(({ pcm, rateHz }, i) => utterances.push(hearings(pcm, rateHz, some[i]!.words, random)));
          }
        }
        return utterances;
      }),
    );
    return trainModel(network.words, heard.flat());
  } finally {
    await Promise.all([...processes.values()].map((process) => process[Symbol.asyncDispose]()));
  }
}

// A thread that learns one language and leaves the model on disk, whole or not at all.
const { vocabularyFile, modelFile } = z.object({ vocabularyFile: z.string(), modelFile: z.string() }).parse(workerData);
const model = await buildModel(readGrammar(await readFile(vocabularyFile, 'utf8')));
const unfinished = `${modelFile}.${randomBytes(6).toString('hex')}`;
await writeFile(unfinished, encodeModel(model));
await rename(unfinished, modelFile);
