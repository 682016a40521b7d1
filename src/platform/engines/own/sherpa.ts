import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import { OwnModelError } from '../errors.ts';
import type { RecognitionFiles } from './model-folder.ts';

/** What is used of the package `sherpa-onnx-node`, which is not installed with Offhook. */
export interface Sherpa {
  readonly OnlineRecognizer: new (config: unknown) => OnlineRecognizer;
}
export interface OnlineRecognizer {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decode(stream: OnlineStream): void;
  getResult(stream: OnlineStream): unknown;
}
export interface OnlineStream {
  acceptWaveform(audio: { samples: Float32Array; sampleRate: number }): void;
  inputFinished(): void;
}

const packageName = 'sherpa-onnx-node';
const packageSchema = z.object({
  OnlineRecognizer: z.custom<Sherpa['OnlineRecognizer']>((value) => typeof value === 'function', 'has no OnlineRecognizer'),
});

/**
 * Loads the package, from beside the models or from beside Offhook.
 * @throws OwnModelError when it is not installed, or is not what it should be
 */
export function loadSherpa(modelsFolder: string): Sherpa {
  let last: unknown;
  for (const from of [join(modelsFolder, 'package.json'), import.meta.url]) {
    try {
      return packageSchema.parse(createRequire(from)(packageName));
    } catch (error) {
      last = error;
      if (!isMissing(error)) break;
    }
  }
  const why = isMissing(last) ? `it is not installed: npm install ${packageName}` : errorText(last);
  throw new OwnModelError(`models need the package ${packageName}: ${why}`, { cause: last });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}

/**
 * Opens a streaming transducer.
 * @throws OwnModelError with the library's own words when a file is not a model
 */
export function openRecognizer(sherpa: Sherpa, files: RecognitionFiles): OnlineRecognizer {
  const { encoder, decoder, joiner, tokens } = files;
  try {
    return new sherpa.OnlineRecognizer({
      featConfig: { sampleRate: 16_000, featureDim: 80 },
      modelConfig: { transducer: { encoder, decoder, joiner }, tokens, numThreads: 1, provider: 'cpu', debug: 0 },
      decodingMethod: 'greedy_search',
      enableEndpoint: 0,
    });
  } catch (error) {
    throw new OwnModelError(`the models for ${files.language} could not be opened: ${errorText(error)}`, { cause: error });
  }
}
