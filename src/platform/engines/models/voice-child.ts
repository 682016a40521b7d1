import { z } from 'zod';
import { type Render, serveRequests } from '../synth/child-protocol.ts';
import { threadDataSchema } from './open-models.ts';
import { loadSherpa, openVoice } from './sherpa.ts';

// Voices of models run in this separate process: the library ends its process for some texts, and writes texts to standard error. Each
// model is opened once; the threads of libuv's pool share it.

const requestSchema = z.object({
  id: z.int(),
  text: z.string(),
  /** Place among the used models. */
  model: z.int().min(0),
  /** Place among the speakers of the model. */
  speaker: z.int().min(0),
  /** espeak's identifier, for models of several languages. */
  language: z.string(),
  /** 1 is the voice's own pace. */
  speed: z.number(),
});
/** One piece of text by a voice of a model. */
export type VoiceRequest = Omit<z.infer<typeof requestSchema>, 'id'>;

// GeneratedAudio of the package's types.js.
const audioSchema = z.object({ samples: z.instanceof(Float32Array), sampleRate: z.int().positive() });

function load(): Promise<Render<z.infer<typeof requestSchema>>> {
  const { modelsFolder, models } = threadDataSchema.parse(JSON.parse(process.argv[2] ?? ''));
  const sherpa = loadSherpa(modelsFolder);
  const voices = models.voices.map(({ model }) => ({ kind: model.kind, voice: openVoice(sherpa, model) }));
  return Promise.resolve(async ({ text, model, speaker, language, speed }) => {
    const used = voices[model];
    if (used === undefined) throw new RangeError(`there is no model ${model}`);
    const generationConfig = { sid: speaker, speed, ...(used.kind === 'kokoro' ? { extra: { lang: language } } : {}) };
    const made = await used.voice.generateAsync({ text, generationConfig, enableExternalBuffer: false });
    const { samples, sampleRate } = audioSchema.parse(made);
    const pcm = Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_767))));
    return { pcm, rateHz: sampleRate };
  });
}

await serveRequests(requestSchema, load, { together: true });
