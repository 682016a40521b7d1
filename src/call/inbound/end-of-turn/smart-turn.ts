import { createRequire } from 'node:module';
import { z } from 'zod';
import { resample } from '../../../audio/resample.ts';
import { errorText, OffhookError } from '../../../kernel/errors.ts';
import { BANDS, LogMel, STEPS, WINDOW_RATE_HZ } from './log-mel.ts';

/** The package that runs the model; its releases carry the library, so it needs no install scripts. */
export const RUNTIME_PACKAGE = 'onnxruntime-node';

/** A model that hears whether a caller has finished. */
export interface EndOfTurnModel {
  /**
   * @param pcm the turn so far at 8 kHz, with the quiet at its end; of more than 8 s the end counts
   * @returns how likely the turn is over, 0 to 1
   */
  judge(pcm: Int16Array): Promise<number>;
}

/** The model or the package that runs it could not be opened. */
export class EndOfTurnModelError extends OffhookError {
  readonly code = 'OFFHOOK_TURN_MODEL';
  readonly retryable = false;
}

/** The part of the package that is used. */
interface Runtime {
  readonly InferenceSession: {
    create(
      path: string,
      options: object,
    ): Promise<{
      readonly inputNames: readonly string[];
      run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
    }>;
  };
  readonly Tensor: new (type: 'float32', data: Float32Array, shape: readonly number[]) => unknown;
}

const runtimeSchema = z.custom<Runtime>((value) => {
  if (typeof value !== 'object' || value === null || !('InferenceSession' in value) || !('Tensor' in value)) return false;
  return typeof value.Tensor === 'function' && typeof Object(value.InferenceSession).create === 'function';
});
const answerSchema = z.looseObject({ data: z.instanceof(Float32Array).refine(({ length }) => length === 1) });

/**
 * Opens a model of the Smart Turn v3 family: one input of log-mel features, one output, which is a likelihood although it is called `logits`.
 * @param path of the `.onnx` file
 * @throws EndOfTurnModelError when the package is missing, or the file is no such model
 */
export async function openSmartTurn(path: string): Promise<EndOfTurnModel> {
  const { InferenceSession, Tensor } = loadRuntime(path);
  let session: Awaited<ReturnType<typeof InferenceSession.create>>;
  try {
    const oneThread = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' };
    session = await InferenceSession.create(path, oneThread);
  } catch (error) {
    throw new EndOfTurnModelError(`the end-of-turn model ${path} could not be opened: ${errorText(error)}`, { cause: error });
  }
  const [name, ...others] = session.inputNames;
  if (name !== 'input_features' || others.length > 0)
    throw new EndOfTurnModelError(
      `${path} is no end-of-turn model of the Smart Turn family: its inputs are ${session.inputNames.join(', ')}`,
    );
  const features = new LogMel();
  return {
    async judge(pcm) {
      const input = new Float32Array(BANDS * STEPS);
      features.process(resample(pcm, 8_000, WINDOW_RATE_HZ), input);
      const answer = Object.values(await session.run({ [name]: new Tensor('float32', input, [1, BANDS, STEPS]) }))[0];
      const likelihood = answerSchema.parse(answer).data[0] ?? Number.NaN;
      if (!(likelihood >= 0 && likelihood <= 1)) throw new RangeError(`the end-of-turn model answered ${likelihood}`);
      return likelihood;
    },
  };
}

/** Loads the package from beside the model, or from beside Offhook. */
function loadRuntime(path: string): Runtime {
  let last: unknown;
  for (const from of [path, import.meta.url]) {
    try {
      return runtimeSchema.parse(createRequire(from)(RUNTIME_PACKAGE));
    } catch (error) {
      last = error;
      if (!isMissing(error)) break;
    }
  }
  const why = isMissing(last) ? `it is not installed: npm install --ignore-scripts ${RUNTIME_PACKAGE}` : errorText(last);
  throw new EndOfTurnModelError(`the end-of-turn model needs the package ${RUNTIME_PACKAGE}: ${why}`, { cause: last });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}
