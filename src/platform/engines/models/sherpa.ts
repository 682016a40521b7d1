import { createRequire } from 'node:module';
import { z } from 'zod';
import { libraryPlaces, SHERPA } from '../../../speech/models/model-library.ts';
import { errorText } from '../../../kernel/errors.ts';
import type { VoiceModel } from '../../../speech/models/model.ts';
import { ModelOpenError } from './open-models.ts';

/** The package `sherpa-onnx-node`: classes by name. */
export type Sherpa = Readonly<Record<string, unknown>>;
export interface OnlineRecognizer {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decode(stream: OnlineStream): void;
  /** Absent in older versions. */
  decodeStreams?(streams: readonly OnlineStream[]): void;
  getResult(stream: OnlineStream): unknown;
}
export interface OnlineStream {
  acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void;
  inputFinished(): void;
  /** Absent in older versions. */
  setOption?(key: string, value: string): void;
}

export interface OfflineRecognizer {
  /** @param hotwords phrases separated by slashes, for transducers that were opened with a beam search */
  createStream(hotwords?: string): OfflineStream;
  decode(stream: OfflineStream): void;
  /** Decodes in another thread; absent in older versions. */
  decodeAsync?(stream: OfflineStream): Promise<unknown>;
  getResult(stream: OfflineStream): unknown;
  setConfig?(config: object): void;
}
export interface OfflineStream {
  /** Once, with all audio. */
  acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void;
}

export interface OfflineVoice {
  /**
   * In a thread of libuv's pool; several at once share the model. Rejects for text that has no sound. (The older `generate` ends
   * the process with such text, and a progress callback of this one may: it uses freed memory.)
   */
  generateAsync(request: {
    text: string;
    enableExternalBuffer: boolean;
    generationConfig: { sid: number; speed: number; extra?: Readonly<Record<string, string>> };
  }): Promise<unknown>;
}
export interface Embedder {
  createStream(): OnlineStream;
  compute(stream: OnlineStream, enableExternalBuffer: boolean): unknown;
}
export interface Diarizer {
  setConfig(config: { clustering: { numClusters: number; threshold: number } }): void;
  process(samples: Float32Array): unknown;
}

/**
 * Loads the package from beside the models, or from beside Offhook.
 * @param places files whose folders are searched, in order
 * @throws ModelOpenError when it is not installed or cannot be loaded
 */
export function loadSherpa(modelsFolder: string, places = libraryPlaces(modelsFolder)): Sherpa {
  let last: unknown;
  for (const from of places) {
    try {
      return packageSchema.parse(createRequire(from)(SHERPA.name));
    } catch (error) {
      last = error;
      if (!isMissing(error)) break;
    }
  }
  const why = isMissing(last)
    ? `it is not installed: npm install ${SHERPA.name} in ${modelsFolder} (npx offhook models get does so)`
    : errorText(last);
  throw new ModelOpenError(`models need the package ${SHERPA.name}: ${why}`, { cause: last });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}

const packageSchema = z.record(z.string(), z.unknown());
type Constructor<Model> = new (config: unknown) => Model;

/** The library's classes that models are opened with. */
interface Classes {
  readonly OnlineRecognizer: OnlineRecognizer;
  readonly OfflineRecognizer: OfflineRecognizer;
  readonly OfflineTts: OfflineVoice;
  readonly SpeakerEmbeddingExtractor: Embedder;
  readonly OfflineSpeakerDiarization: Diarizer;
}

/**
 * Opens a model.
 * @param what its name, for the error
 * @throws ModelOpenError with the library's message when a file is no model; the library writes the reason to standard error
 */
export function construct<Name extends keyof Classes>(sherpa: Sherpa, name: Name, what: string, config: object): Classes[Name] {
  const found = z.custom<Constructor<Classes[Name]>>((value) => typeof value === 'function').safeParse(sherpa[name]);
  if (!found.success) throw new ModelOpenError(`the package ${SHERPA.name} has no ${name}`);
  try {
    return new found.data(config);
  } catch (error) {
    throw new ModelOpenError(`the model ${what} could not be opened: ${errorText(error)}`, { cause: error });
  }
}

export const onProcessor = { numThreads: 1, provider: 'cpu', debug: 0 };
/** The library's default distance between two speakers, used when their number is not given. */
export const clusteringThreshold = 0.5;

/** Opens a voice. @throws ModelOpenError when a file is no model, or the package is too old */
export function openVoice(sherpa: Sherpa, { name, kind, files }: VoiceModel): OfflineVoice {
  // A Kokoro voice of several languages wants a lexicon or a language; each request names its own.
  const language = kind === 'kokoro' && files.lexicon === undefined ? { lang: 'en-us' } : {};
  const voice = construct(sherpa, 'OfflineTts', name, {
    model: { [kind]: { ...files, ...language }, ...onProcessor },
    maxNumSentences: 1,
  });
  if (typeof voice.generateAsync === 'function') return voice;
  throw new ModelOpenError(`the package ${SHERPA.name} is too old for voices: npm install ${SHERPA.name}`);
}

/** Opens a speaker embedding model. @throws ModelOpenError */
export function openEmbedder(sherpa: Sherpa, model: string): Embedder {
  return construct(sherpa, 'SpeakerEmbeddingExtractor', 'speaker embedding', {
    model,
    ...onProcessor,
  });
}

/** Opens a diarization model. @throws ModelOpenError */
export function openDiarizer(sherpa: Sherpa, segmentation: string, embedding: string): Diarizer {
  return construct(sherpa, 'OfflineSpeakerDiarization', 'diarization', {
    segmentation: { pyannote: { model: segmentation }, ...onProcessor },
    embedding: { model: embedding, ...onProcessor },
    clustering: { numClusters: -1, threshold: clusteringThreshold },
    minDurationOn: 0.2,
    minDurationOff: 0.5,
  });
}
