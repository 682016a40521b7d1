import { errorText } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { startWorker } from '../../../kernel/entry-file.ts';
import type { Logger } from '../../../observability/logger.ts';
import { PocketsphinxError } from '../errors.ts';
import { ModelThread } from '../own/model-thread.ts';
import type { RecognitionEngine } from '../port.ts';
import { loadLibrary } from './library.ts';
import { debianModels, prepareVocabulary } from './prepare.ts';
import { SecondHearing } from './second-hearing.ts';

/** Loading the model, and the longest utterance on a busy machine. */
const DEADLINE_MS = 10_000;

/** `auto` goes without where the library, the model or koffi is not there. */
export type PocketsphinxUse = 'off' | 'on' | 'auto';

export interface PocketsphinxOptions {
  readonly use: PocketsphinxUse;
  readonly vocabularyFolder: string;
  readonly cacheFolder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the library and its model are, for tests; Debian's places when absent. */
  readonly libraryFiles?: { readonly decoder: string; readonly base: string };
  readonly modelsFolder?: string;
}

/**
 * Has English that the built-in recogniser did not understand heard again by Debian's pocketsphinx. Other languages and `auto` go on as before. Both are disposed
 * of together.
 * @throws PocketsphinxError naming the missing Debian package, where `use` is `on`
 */
export async function withPocketsphinx(builtIn: RecognitionEngine, options: PocketsphinxOptions): Promise<RecognitionEngine> {
  const { use, logger } = options;
  if (use === 'off' || !builtIn.languages.includes('en')) return builtIn;
  let thread: ModelThread;
  try {
    thread = await startedThread(options);
  } catch (error) {
    if (use === 'on' || !(error instanceof PocketsphinxError)) throw error;
    logger.info({ reason: errorText(error) }, 'English is heard without pocketsphinx');
    return builtIn;
  }
  logger.info({}, 'pocketsphinx ready');
  return {
    languages: builtIn.languages,
    open: (request, listener) =>
      request.language === 'en'
        ? new SecondHearing({ builtIn, request, listener, ask: (question) => thread.ask(question), logger })
        : builtIn.open(request, listener),
    async [Symbol.asyncDispose]() {
      await thread[Symbol.asyncDispose]();
      await builtIn[Symbol.asyncDispose]();
    },
  };
}

/** @throws PocketsphinxError */
async function startedThread(options: PocketsphinxOptions): Promise<ModelThread> {
  const { vocabularyFolder, cacheFolder, clock, logger, libraryFiles, modelsFolder = debianModels } = options;
  // Here only to say what is missing; the thread loads it for itself.
  loadLibrary(libraryFiles);
  const data = await prepareVocabulary({ modelsFolder, vocabularyFolder, cacheFolder, logger });
  const thread = new ModelThread({
    name: 'the thread of pocketsphinx',
    startThread: () => startWorker(import.meta.url, 'pocketsphinx-worker', data),
    deadlineMs: DEADLINE_MS,
    unavailable: (reason) => new PocketsphinxError(reason),
    clock,
    logger,
  });
  try {
    await thread.start();
  } catch (error) {
    await thread[Symbol.asyncDispose]();
    throw error;
  }
  return thread;
}
