import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { serveThread } from './model-thread.ts';
import { threadDataSchema } from '../models/open-models.ts';
import { loadSherpa, openVoice } from '../models/sherpa.ts';

// The thread of the user's voices: one sentence at a time.
const { modelsFolder, models } = threadDataSchema.parse(workerData);
const sherpa = loadSherpa(modelsFolder);
const voices = new Map(
  models.voices.flatMap(({ model, languages }) => {
    const voice = openVoice(sherpa, model);
    return languages.map((language) => [language, voice] as const);
  }),
);

const questionSchema = z.object({ language: z.string(), text: z.string(), speed: z.number(), voice: z.int().min(0) });
// GeneratedAudio of the package's types.js.
const audioSchema = z.object({ samples: z.instanceof(Float32Array), sampleRate: z.int().positive() });

serveThread((raw) => {
  const { language, text, speed, voice } = questionSchema.parse(raw);
  const model = voices.get(language);
  if (model === undefined) throw new Error(`no voice for ${language}`);
  // An external buffer cannot be sent to another thread.
  const made = model.generate({ text, speed, sid: voice % Math.max(1, model.numSpeakers), enableExternalBuffer: false });
  const { samples, sampleRate } = audioSchema.parse(made);
  const pcm = Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_767))));
  return { pcm, rateHz: sampleRate };
});
