import { errorText } from '../../../kernel/errors.ts';
import { startWorker } from '../../../kernel/entry-file.ts';
import { ModelOpenError, type OpenedModels } from './open-models.ts';
import type { RecognitionEngine } from '../recognise/port.ts';
import { Recogniser } from '../recognise/recogniser.ts';

/**
 * Routes languages with a model of the user's to that model; all others and `auto` go to the built-in recogniser. Disposes of both.
 * @throws ModelOpenError when the thread does not start
 */
export async function withModelRecognition(
  builtIn: RecognitionEngine,
  { modelsFolder, models, clock, logger }: OpenedModels,
): Promise<RecognitionEngine> {
  if (models.recognition.length === 0) return builtIn;
  const languages = models.recognition.flatMap((used) => used.languages);
  const own = new Recogniser({
    languages,
    startThread: () => startWorker(import.meta.url, 'recognition-worker', { modelsFolder, models }),
    clock,
    logger,
  });
  try {
    await own.start();
  } catch (error) {
    await own[Symbol.asyncDispose]();
    throw new ModelOpenError(errorText(error), { cause: error });
  }
  logger.info({ languages }, 'user recognition models ready');
  return {
    languages: [...new Set([...builtIn.languages, ...languages])],
    modelLanguages: languages,
    open: (request, listener) => (languages.includes(request.language) ? own : builtIn).open(request, listener),
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await builtIn[Symbol.asyncDispose]();
    },
  };
}
