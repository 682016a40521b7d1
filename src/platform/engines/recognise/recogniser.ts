import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { backoffDelayMs, type BackoffPolicy } from '../../../kernel/backoff.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { startWorker } from '../../../kernel/entry-file.ts';
import {
  type RecognitionEngine,
  type RecognitionEngineEvent,
  type RecognitionOptions,
  type RecognitionStream,
  RecognitionUnavailableError,
  UnknownLanguageError,
  type VocabularyProgress,
} from './port.ts';
import { compileNetwork, readGrammar, type WordNetwork } from './grammar.ts';
import { codeHash, ensureModels } from './model-cache.ts';
import { canBeLearnt, LearntFiles, MOST_LEARNT_PHRASES, PhraseLearner } from './phrase-learner.ts';
import { Stream } from './recogniser-stream.ts';
import { TaughtVocabulary } from './taught-vocabulary.ts';
import type { FromWorker, ToWorker, VocabularyMessage } from './worker-protocol.ts';

const EVERY_MS = 5_000;
/** Pings in a row without any answer: after the first number nobody new is let in, after the second the thread is given up. */
const UNANSWERED = { late: 3, stuck: 4 };

interface WatchdogOptions {
  readonly clock: Clock;
  /** Between two pings: 5 s when absent. */
  readonly everyMs?: number | undefined;
  readonly ping: () => void;
  /** Whether anybody waits for the thread; without that, it is asked until it has answered once more. */
  readonly isNeeded: () => boolean;
  readonly onStuck: (silentMs: number) => void;
}

/**
 * Asks a thread whether it still answers. Unanswered pings are counted, not time: on a machine without processor time left this side is
 * late too, and a thread that gets some between two pings answers.
 */
class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #everyMs: number;
  #unanswered = 0;
  #timer: Timer | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? EVERY_MS;
  }

  /** False while the thread owes the answers to several pings. */
  get isAnswered(): boolean {
    return this.#unanswered < UNANSWERED.late;
  }

  /** Starts to ask, until nobody needs the thread and it has answered. */
  watch(): void {
    this.#timer ??= this.#options.clock.after(this.#everyMs, () => this.#tick());
  }

  /** Any message of the thread is an answer. */
  answered(): void {
    this.#unanswered = 0;
  }

  /** Nobody needs the thread any more: it is asked no further, unless it owes an answer. */
  rest(): void {
    if (this.#unanswered === 0) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unanswered = 0;
  }

  #tick(): void {
    this.#timer = undefined;
    const { isNeeded, ping, onStuck } = this.#options;
    if (this.#unanswered >= UNANSWERED.stuck) {
      onStuck(this.#unanswered * this.#everyMs);
      return;
    }
    if (this.#unanswered === 0 && !isNeeded()) return;
    this.#unanswered += 1;
    ping();
    this.watch();
  }
}

const RESTART: BackoffPolicy = { firstMs: 100, factor: 3, maxMs: 10_000, jitter: 0.3 };
const START_DEADLINE_MS = 20_000;
/**
 * A commit of a turn that is not understood waits this long for phrases that are being learnt; later commits get the phrases that come
 * too late for it.
 */
const LEARNING_WAIT_MS = 8_000;

/**
 * Starts the built-in recogniser: loads (or learns) every vocabulary, and starts one thread for all streams.
 * @throws VocabularyError, RecognitionUnavailableError
 */
export async function startRecogniser(options: {
  readonly vocabularyFolder: string;
  readonly cacheFolder: string;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<RecognitionEngine> {
  const { clock, logger, vocabularyFolder, cacheFolder } = options;
  const models = await ensureModels(vocabularyFolder, cacheFolder, logger);
  const networks = await Promise.all(
    models.map(
      async ({ language, vocabularyFile }) =>
        [language, compileNetwork(readGrammar(await readFile(vocabularyFile, 'utf8')))] as const,
    ),
  );
  const recogniser = new Recogniser({
    languages: models.map(({ language }) => language),
    networks: new Map(networks),
    startThread: () => startWorker(import.meta.url, 'recogniser-worker', { languages: models }),
    learner: new PhraseLearner({
      startThread: () => startWorker(import.meta.url, 'learn-phrases-worker', {}),
      files: new LearntFiles(
        join(cacheFolder, 'phrases'),
        codeHash(['learn-phrases-worker', 'add-phrases', 'acoustic-model']),
        logger,
      ),
      clock,
      logger,
    }),
    clock,
    logger,
  });
  await recogniser.start();
  logger.info({ languages: recogniser.languages }, 'recogniser ready');
  return recogniser;
}

export interface RecogniserOptions {
  readonly languages: readonly string[];
  /** Starts a thread that speaks the worker protocol. */
  readonly startThread: () => Worker;
  /** For the thread to load its models. */
  readonly startDeadlineMs?: number;
  /** Between two questions whether the thread still answers. */
  readonly pingEveryMs?: number;
  /** Learns phrases outside the vocabulary; without it boosting affects known words only. */
  readonly learner?: PhraseLearner | undefined;
  /** The word networks of closed vocabularies, by language, which can be taught more phrases. */
  readonly networks?: ReadonlyMap<string, WordNetwork>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** For clients that come while the thread does not answer: time enough to notice, restart and load the models. */
const RETRY_AFTER_S = 10;

/** A recogniser in a thread that is restarted, with back-off, when it ends or stops answering. */
export class Recogniser implements RecognitionEngine {
  readonly languages: readonly string[];
  readonly builtIn: boolean;
  readonly #startThread: () => Worker;
  readonly #startDeadlineMs: number;
  readonly #learner: PhraseLearner | undefined;
  readonly #taught: TaughtVocabulary | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #streams = new Map<number, Stream>();
  readonly #watchdog: Watchdog;
  #worker: Worker | undefined;
  #starting: Worker | undefined;
  #nextStream = 1;
  #failures = 0;
  #restart: Timer | undefined;
  #closed = false;

  constructor(options: RecogniserOptions) {
    const { languages, startThread, startDeadlineMs = START_DEADLINE_MS, learner, networks = new Map(), clock, logger } = options;
    const isBusy = (): boolean => this.#streams.size > 0;
    this.#taught = learner && new TaughtVocabulary({ networks, learner, use: this.#useVocabulary, isBusy, clock, logger });
    this.builtIn = options.networks !== undefined;
    this.#startThread = startThread;
    this.#startDeadlineMs = startDeadlineMs;
    this.#learner = learner;
    this.languages = languages;
    this.#clock = clock;
    this.#logger = logger;
    this.#watchdog = new Watchdog({
      clock,
      everyMs: options.pingEveryMs,
      ping: () => this.#worker?.postMessage({ type: 'ping' } satisfies ToWorker, []),
      isNeeded: isBusy,
      onStuck: (silentMs) => this.#stuck(silentMs),
    });
  }

  /** Streams of the thread; undefined while it does not run. */
  get openStreams(): number | undefined {
    return this.retryAfterS === undefined ? this.#streams.size : undefined;
  }

  get retryAfterS(): number | undefined {
    return this.#worker !== undefined && this.#watchdog.isAnswered ? undefined : RETRY_AFTER_S;
  }

  /** @throws RecognitionUnavailableError when the thread does not get ready; the log has the reason */
  async start(): Promise<void> {
    const worker = this.#startThread();
    this.#starting = worker;
    worker.on('error', (error) => this.#logger.error({ error }, 'recogniser thread failed'));
    worker.once('exit', () => this.#died(worker));
    const deadline = this.#clock.after(this.#startDeadlineMs, () => void worker.terminate());
    const started = await Promise.race([once(worker, 'message').then(() => true), once(worker, 'exit').then(() => false)]).catch(
      () => false,
    );
    deadline.cancel();
    this.#starting = this.#starting === worker ? undefined : this.#starting;
    if (!started) throw new RecognitionUnavailableError('the recogniser did not start');
    worker.on('message', (message: FromWorker) => this.#received(message));
    this.#worker = worker;
    this.#taught?.useAgain();
  }

  readonly #useVocabulary = (language: string, models: readonly Uint8Array[]): void => {
    this.#worker?.postMessage({ type: 'vocabulary', language, models } satisfies VocabularyMessage, []);
  };

  get vocabulary(): VocabularyProgress | undefined {
    return this.#taught?.progress;
  }

  teach(phrases: Readonly<Record<string, readonly string[]>>, onProgress?: (progress: VocabularyProgress) => void): void {
    void this.#taught?.teach(phrases, onProgress);
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void): RecognitionStream {
    const { language, rateHz, boostPhrases, boostWeight, listedPhrases = [] } = options;
    if (language !== 'auto' && !this.languages.includes(language)) {
      throw new UnknownLanguageError(`no vocabulary for this language`, { facts: { language: language.slice(0, 20) } });
    }
    const id = this.#nextStream++;
    const worker = this.#worker;
    const stream = new Stream(
      id,
      (message) => worker?.postMessage(message, []),
      listener,
      this.#clock,
      () => this.#forget(id),
      options.learningWaitMs ?? LEARNING_WAIT_MS,
    );
    if (worker === undefined || this.retryAfterS !== undefined) {
      stream.fail(worker === undefined ? 'the recogniser is not running' : 'the recogniser does not answer');
      return stream;
    }
    this.#streams.set(id, stream);
    this.#watchdog.watch();
    worker.postMessage({ type: 'open', stream: id, language, rateHz, boostPhrases, boostWeight } satisfies ToWorker, []);
    const learner = this.#learner;
    if (learner === undefined) return stream;
    const wanted = [...new Set([...boostPhrases, ...listedPhrases])].slice(0, MOST_LEARNT_PHRASES);
    for (const spoken of language === 'auto' ? this.languages : [language]) {
      const phrases = wanted.filter((phrase) => canBeLearnt(spoken, phrase));
      if (phrases.length === 0) continue;
      stream.extend(spoken, Promise.all(phrases.map((phrase) => learner.learn(spoken, phrase))));
    }
    return stream;
  }

  #forget(id: number): void {
    this.#streams.delete(id);
    if (this.#streams.size === 0) this.#watchdog.rest();
  }

  #received(message: FromWorker): void {
    this.#watchdog.answered();
    if (message.type === 'ready' || message.type === 'pong') return;
    this.#failures = 0;
    this.#streams.get(message.stream)?.received(message);
  }

  /** Ends a thread that computes without end. Its exit is not awaited: a library's code may hold it up. */
  #stuck(silentMs: number): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#logger.error({ silentMs, streams: this.#streams.size }, 'recogniser thread does not answer');
    void worker.terminate();
    this.#died(worker);
  }

  #died(worker: Worker): void {
    if (this.#worker !== worker && this.#starting !== worker) return;
    this.#worker = undefined;
    this.#starting = undefined;
    this.#watchdog.stop();
    for (const stream of this.#streams.values()) stream.fail('the recogniser ended');
    this.#streams.clear();
    if (!this.#closed) this.#startLater();
  }

  #startLater(): void {
    const delayMs = backoffDelayMs(RESTART, this.#failures, Math.random());
    this.#failures += 1;
    this.#logger.warn({ delayMs }, 'recogniser thread ended, restarting');
    this.#restart = this.#clock.after(delayMs, () => {
      this.start().catch((error: unknown) => {
        // A thread that was started and ended has its restart already.
        if (error instanceof RecognitionUnavailableError || this.#closed) return;
        this.#logger.error({ error }, 'recogniser thread could not be started');
        this.#startLater();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#restart?.cancel();
    this.#watchdog.stop();
    this.#learner?.[Symbol.dispose]();
    await Promise.all([this.#worker?.terminate(), this.#starting?.terminate()]);
  }
}
