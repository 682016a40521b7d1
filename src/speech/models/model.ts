import { z } from 'zod';

/**
 * Speech models that a user installs. Each is a folder of the models folder with its files and a `model.json`, which says what the
 * files are; the engines of the embedded platform open what is named there (sherpa-onnx, its documentation of pre-trained models).
 */

/** A path inside the model's folder. */
export const modelPath = z.string().regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).{1,300}$/u, 'a path inside the folder of the model');
const file = modelPath;
/** The name of a model's folder. */
export const modelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/iu, 'letters, digits, dots, hyphens and underscores, at most 100');
const shared = {
  name: modelName,
  /** SPDX identifier, or the name of the licence. */
  licence: z.string().min(1).max(200).optional(),
};
/** ISO 639 codes; `auto` beside them where the model tells by itself which one it hears. */
const languages = z.array(z.string().regex(/^(?:auto|[a-z]{2,3})$/u)).min(1);

const recognition = { ...shared, role: z.literal('recognition'), languages };
export const recognitionModel = z.discriminatedUnion('kind', [
  /** Streaming; hotwords where `bpeVocab` is there. */
  z.strictObject({
    ...recognition,
    kind: z.literal('streaming-transducer'),
    files: z.strictObject({ encoder: file, decoder: file, joiner: file, tokens: file, bpeVocab: file.optional() }),
  }),
  z.strictObject({
    ...recognition,
    kind: z.literal('streaming-ctc'),
    /** Which loader of sherpa-onnx opens it. Its package for Node has none for streaming models of WeNet. */
    family: z.enum(['zipformer2', 'nemo', 't-one']).default('zipformer2'),
    files: z.strictObject({ model: file, tokens: file }),
  }),
  /** The kinds below recognise whole utterances, which voice activity cuts. */
  z.strictObject({
    ...recognition,
    kind: z.literal('offline-transducer'),
    family: z.enum(['transducer', 'nemo']).default('transducer'),
    files: z.strictObject({ encoder: file, decoder: file, joiner: file, tokens: file, bpeVocab: file.optional() }),
  }),
  z.strictObject({
    ...recognition,
    kind: z.literal('offline-ctc'),
    family: z.enum(['nemo', 'zipformer', 'wenet', 'omnilingual']).default('nemo'),
    files: z.strictObject({ model: file, tokens: file }),
  }),
  z.strictObject({
    ...recognition,
    kind: z.literal('whisper'),
    files: z.strictObject({ encoder: file, decoder: file, tokens: file }),
  }),
  z.strictObject({
    ...recognition,
    kind: z.literal('moonshine'),
    files: z.strictObject({ preprocessor: file, encoder: file, uncachedDecoder: file, cachedDecoder: file, tokens: file }),
  }),
  /** Its decoder is one file. */
  z.strictObject({
    ...recognition,
    kind: z.literal('moonshine-v2'),
    files: z.strictObject({ encoder: file, mergedDecoder: file, tokens: file }),
  }),
  z.strictObject({
    ...recognition,
    kind: z.literal('sense-voice'),
    files: z.strictObject({ model: file, tokens: file }),
  }),
]);

const voice = { ...shared, role: z.literal('voice'), languages };
/** `dataDir` is the folder `espeak-ng-data`; a lexicon stands in its place where the model was trained with one. */
const pronunciation = { lexicon: file.optional(), dataDir: file.optional() };
export const voiceModel = z.discriminatedUnion('kind', [
  z.strictObject({
    ...voice,
    kind: z.literal('vits'),
    files: z.strictObject({ model: file, tokens: file, ...pronunciation }),
  }),
  z.strictObject({
    ...voice,
    kind: z.literal('matcha'),
    files: z.strictObject({ acousticModel: file, vocoder: file, tokens: file, ...pronunciation }),
  }),
  z.strictObject({
    ...voice,
    kind: z.literal('kokoro'),
    files: z.strictObject({ model: file, voices: file, tokens: file, ...pronunciation }),
  }),
]);

const speakers = { ...shared, role: z.literal('speakers') };
export const speakerModel = z.discriminatedUnion('kind', [
  z.strictObject({ ...speakers, kind: z.literal('embedding'), files: z.strictObject({ model: file }) }),
  /** Diarizes together with an embedding. */
  z.strictObject({ ...speakers, kind: z.literal('segmentation'), files: z.strictObject({ model: file }) }),
]);

/** Hears whether a caller has finished (docs/turn-taking.md); opened by the process that runs the calls, whatever speech platform they use. */
const endOfTurnModel = z.strictObject({
  ...shared,
  role: z.literal('end-of-turn'),
  kind: z.literal('end-of-turn'),
  files: z.strictObject({ model: file }),
});

/** `model.json`. */
export const modelDescription = z.discriminatedUnion('kind', [recognitionModel, voiceModel, speakerModel, endOfTurnModel]);

export type RecognitionModel = z.infer<typeof recognitionModel>;
export type VoiceModel = z.infer<typeof voiceModel>;
export type SpeakerModel = z.infer<typeof speakerModel>;
export type ModelDescription = z.infer<typeof modelDescription>;

/** A model that is used, for these languages: those for which no other was chosen. Its files are absolute paths. */
export interface Used<Model> {
  readonly model: Model;
  readonly languages: readonly string[];
}

/** What the engines open. One model may serve several languages; it is opened once. */
export interface UsedModels {
  readonly recognition: readonly Used<RecognitionModel>[];
  readonly voices: readonly Used<VoiceModel>[];
  /** Path of the speaker embedding model. */
  readonly embedding?: string | undefined;
  /** Path of the segmentation model, which diarizes together with `embedding`. */
  readonly segmentation?: string | undefined;
}
