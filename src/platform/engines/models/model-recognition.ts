import { stat } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { startWorker } from '../../../kernel/entry-file.ts';
import { errorText } from '../../../kernel/errors.ts';
import type { RecognitionModel, Used } from '../../../speech/models/model.ts';
import type { RecognitionEngine, RecognitionEngineEvent, RecognitionOptions, RecognitionStream } from '../recognise/port.ts';
import { Recogniser, type RecogniserOptions } from '../recognise/recogniser.ts';
import { ModelOpenError, type OpenedModels } from './open-models.ts';

/** Large models take tens of seconds from a slow disk. */
const START_DEADLINE_MS = 120_000;
/** Each thread has a copy of every model. All copies take at most this share of the memory, as long as there is more than one. */
const MEMORY_SHARE = 0.25;
/** Memory that a model takes for each byte of its files: the library rearranges the weights and keeps working memory. */
const MEMORY_OF_FILES = 1.5;
const MOST_THREADS = 64;

/**
 * Routes languages with a model to that model; the others go to the built-in recogniser, and so does `auto` where no model is used
 * for it. Disposes of both.
 * @param threads how many decode; 0: by the processor's cores and the memory
 * @throws ModelOpenError when a thread does not start
 */
export async function withModelRecognition(
  builtIn: RecognitionEngine,
  { modelsFolder, models, clock, logger }: OpenedModels,
  threads = 0,
): Promise<RecognitionEngine> {
  if (models.recognition.length === 0) return builtIn;
  const languages = models.recognition.flatMap((used) => used.languages);
  const count = threads === 0 ? await threadsFor(models.recognition) : threads;
  const residentBefore = process.memoryUsage.rss();
  const startThread = () => startWorker(import.meta.url, 'recognition-worker', { modelsFolder, models });
  const pool = new RecogniserPool(count, { languages, startThread, startDeadlineMs: START_DEADLINE_MS, clock, logger });
  try {
    await pool.start();
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw new ModelOpenError(errorText(error), { cause: error });
  }
  logger.info(
    {
      models: models.recognition.map(({ model, languages: used }) => ({ name: model.name, kind: model.kind, languages: used })),
      threads: count,
      memoryMb: Math.round((process.memoryUsage.rss() - residentBefore) / 1e6),
    },
    'recognition models ready',
  );
  return {
    languages: [...new Set([...builtIn.languages, ...languages.filter((code) => code !== 'auto')])],
    modelLanguages: languages,
    builtIn: builtIn.builtIn ?? false,
    get vocabulary() {
      return builtIn.vocabulary;
    },
    // An admitted client may ask for either's language.
    get retryAfterS() {
      return builtIn.retryAfterS === undefined ? undefined : pool.retryAfterS;
    },
    // Models are not taught.
    teach: (phrases, onProgress) =>
      builtIn.teach?.(Object.fromEntries(Object.entries(phrases).filter(([code]) => !languages.includes(code))), onProgress),
    open: (request, listener) => (languages.includes(request.language) ? pool : builtIn).open(request, listener),
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await builtIn[Symbol.asyncDispose]();
    },
  };
}

/** Threads with the same models; a stream goes to the one with the fewest streams. */
export class RecogniserPool implements RecognitionEngine {
  readonly languages: readonly string[];
  readonly #threads: readonly [Recogniser, ...Recogniser[]];

  /** @param count at least 1 */
  constructor(count: number, options: RecogniserOptions) {
    this.languages = options.languages;
    const more = Array.from({ length: count - 1 }, () => new Recogniser(options));
    this.#threads = [new Recogniser(options), ...more];
  }

  /** @throws RecognitionUnavailableError when a thread does not start */
  async start(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.start()));
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void): RecognitionStream {
    let [best] = this.#threads;
    for (const thread of this.#threads) {
      if ((thread.openStreams ?? Infinity) < (best.openStreams ?? Infinity)) best = thread;
    }
    return best.open(options, listener);
  }

  /** Seconds for the thread that would take the next stream; answering threads are preferred. */
  get retryAfterS(): number | undefined {
    const waits = this.#threads.map(({ retryAfterS }) => retryAfterS);
    return waits.includes(undefined) ? undefined : waits[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()));
  }
}

async function threadsFor(models: readonly Used<RecognitionModel>[]): Promise<number> {
  const paths = models.flatMap(({ model }) => Object.values(model.files)).filter((path) => path !== undefined);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return defaultThreads(availableParallelism(), totalmem(), bytes);
}

/** One thread for each core but one, which does the rest of the work, as far as the memory goes. */
export function defaultThreads(cores: number, memoryBytes: number, modelBytes: number): number {
  const copies = Math.floor((memoryBytes * MEMORY_SHARE) / Math.max(1, modelBytes * MEMORY_OF_FILES));
  return Math.max(1, Math.min(cores - 1, copies, MOST_THREADS));
}
