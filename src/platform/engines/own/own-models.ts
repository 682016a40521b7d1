import { z } from 'zod';

/** A streaming transducer for one language; paths. */
const recognitionFiles = z.object({
  language: z.string(),
  encoder: z.string(),
  decoder: z.string(),
  joiner: z.string(),
  tokens: z.string(),
});

/** A VITS voice for one language; paths, empty where it has no such file. */
const voiceFiles = z.object({
  language: z.string(),
  model: z.string(),
  tokens: z.string(),
  lexicon: z.string(),
  dataDir: z.string(),
});

const ownModels = z.object({
  recognition: z.array(recognitionFiles),
  voices: z.array(voiceFiles),
  /** Describes a voice; path. */
  embedding: z.string().optional(),
  /** Tells who speaks when, together with `embedding`; path. */
  segmentation: z.string().optional(),
});

export type RecognitionFiles = z.infer<typeof recognitionFiles>;
export type VoiceFiles = z.infer<typeof voiceFiles>;
/** What the user's folder of models holds. */
export type OwnModels = z.infer<typeof ownModels>;

/** What a thread (and the probe) of the user's models is started with. */
export const threadDataSchema = z.object({ modelsFolder: z.string(), models: ownModels });

export type ThreadData = z.infer<typeof threadDataSchema>;
