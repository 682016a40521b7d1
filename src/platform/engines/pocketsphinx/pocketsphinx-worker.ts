import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { Resampler } from '../../../audio/resample.ts';
import { serveThread } from '../own/model-thread.ts';
import { Decoder } from './decoder.ts';
import { loadLibrary } from './library.ts';
import { decoderDataSchema } from './prepare.ts';

// The thread of pocketsphinx: one utterance after another.
const decoder = new Decoder(loadLibrary(), decoderDataSchema.parse(workerData));
const questionSchema = z.object({ pcm: z.instanceof(Int16Array), rateHz: z.int() });
const MODEL_HZ = 16_000;

serveThread(parentPort!, (raw) => {
  const { pcm, rateHz } = questionSchema.parse(raw);
  if (rateHz === MODEL_HZ) return decoder.decode(pcm);
  return decoder.decode(new Resampler(rateHz, MODEL_HZ).process(pcm));
});
