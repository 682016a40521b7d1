import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { type BackoffPolicy, backoffDelayMs } from '../../../kernel/backoff.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { startWorker } from '../../../kernel/entry-file.ts';
import {
  RecognitionUnavailableError,
  UnknownLanguageError,
  type RecognitionEngine,
  type RecognitionEngineEvent,
  type RecognitionOptions,
  type RecognitionResult,
  type RecognitionStream,
  type VocabularyProgress,
} from './port.ts';
import { readGrammar } from './grammar.ts';
import { codeHash, ensureModels } from './model-cache.ts';
import { LearntFiles } from './learnt-files.ts';
import { compileNetwork, type WordNetwork } from './network.ts';
import { canBeLearnt, MOST_LEARNT_PHRASES, type LearntPhrase, PhraseLearner } from './phrase-learner.ts';
import { TaughtVocabulary } from './taught-vocabulary.ts';
import type { FromWorker, ToWorker, VocabularyMessage } from './worker-protocol.ts';

const RESTART: BackoffPolicy = { firstMs: 100, factor: 3, maxMs: 10_000, jitter: 0.3 };
const START_DEADLINE_MS = 20_000;
const COMMIT_DEADLINE_MS = 15_000;
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
  /** Learns phrases outside the vocabulary; without it boosting affects known words only. */
  readonly learner?: PhraseLearner | undefined;
  /** The word networks of closed vocabularies, by language, which can be taught more phrases. */
  readonly networks?: ReadonlyMap<string, WordNetwork>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A recogniser in a thread that is restarted, with back-off, when it ends. */
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
  }

  /** Streams of the thread; undefined while it does not run. */
  get openStreams(): number | undefined {
    return this.#worker === undefined ? undefined : this.#streams.size;
  }

  /** @throws RecognitionUnavailableError when the thread does not get ready; the log has the reason */
  async start(): Promise<void> {
    const worker = this.#startThread();
    this.#starting = worker;
    worker.on('error', (error) => this.#logger.error({ error }, 'recogniser thread failed'));
    worker.once('exit', () => this.#died(worker));
    const deadline = this.#clock.after(this.#startDeadlineMs, () => void worker.terminate());
    const [message] = (await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => [{ type: 'failed' }])])) as [
      FromWorker,
    ];
    deadline.cancel();
    this.#starting = undefined;
    if (message.type !== 'ready') throw new RecognitionUnavailableError('the recogniser did not start');
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
      () => this.#streams.delete(id),
      options.learningWaitMs ?? LEARNING_WAIT_MS,
    );
    if (worker === undefined) {
      stream.fail('the recogniser is not running');
      return stream;
    }
    this.#streams.set(id, stream);
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

  #received(message: FromWorker): void {
    if (message.type === 'ready') return;
    this.#failures = 0;
    this.#streams.get(message.stream)?.received(message);
  }

  #died(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
    for (const stream of this.#streams.values()) stream.fail('the recogniser ended');
    this.#streams.clear();
    if (this.#closed) return;
    const delayMs = backoffDelayMs(RESTART, this.#failures, Math.random());
    this.#failures += 1;
    this.#logger.warn({ delayMs }, 'recogniser thread ended, restarting');
    this.#restart = this.#clock.after(delayMs, () => {
      this.start().catch(() => undefined);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#restart?.cancel();
    this.#learner?.[Symbol.dispose]();
    await Promise.all([this.#worker?.terminate(), this.#starting?.terminate()]);
  }
}

interface PendingCommit {
  resolve(results: readonly RecognitionResult[]): void;
  reject(error: Error): void;
  readonly deadline: Timer;
}

class Stream implements RecognitionStream {
  readonly #id: number;
  readonly #post: (message: ToWorker) => void;
  readonly #listener: (event: RecognitionEngineEvent) => void;
  readonly #clock: Clock;
  readonly #forget: () => void;
  readonly #learningWaitMs: number;
  readonly #commits: PendingCommit[] = [];
  /** Languages whose phrases are being learnt. */
  #learning = 0;
  /** Messages from the first commit on that waits for what is being learnt. */
  readonly #held: ToWorker[] = [];
  /** Whether the thread was asked if the first held commit can be answered now. */
  #trying = false;
  /** Ends the wait of the held commits. */
  #wait: Timer | undefined;
  /** False once a wait was in vain: a machine that learns so slowly would delay every turn. */
  #waits = true;
  /** The reason the stream ended. */
  #over: string | undefined;

  constructor(
    id: number,
    post: (message: ToWorker) => void,
    listener: (event: RecognitionEngineEvent) => void,
    clock: Clock,
    forget: () => void,
    learningWaitMs: number,
  ) {
    this.#id = id;
    this.#post = post;
    this.#listener = listener;
    this.#clock = clock;
    this.#forget = forget;
    this.#learningWaitMs = learningWaitMs;
  }

  /**
   * Adds phrases when they are learnt. Audio is passed on meanwhile, and a turn that is understood anyway is answered. Another one, and
   * everything after it, waits for the phrases.
   */
  extend(language: string, learnt: Promise<readonly (LearntPhrase | undefined)[]>): void {
    this.#learning += 1;
    if (this.#learning === 1) this.#post({ type: 'learning', stream: this.#id, learning: true });
    void learnt.then((phrases) => {
      if (this.#over !== undefined) return;
      const models = phrases.flatMap((phrase) => phrase?.model ?? []);
      if (models.length > 0) this.#post({ type: 'extend', stream: this.#id, language, models });
      this.#learning -= 1;
      if (this.#learning > 0) return;
      this.#post({ type: 'learning', stream: this.#id, learning: false });
      this.#release();
    });
  }

  get #mayWait(): boolean {
    return this.#waits && this.#learning > 0;
  }

  /** Posts the held messages; the answer to a try comes first, since it may be the answer to the first of them. */
  #release(): void {
    this.#wait?.cancel();
    this.#wait = undefined;
    if (!this.#trying) for (const message of this.#held.splice(0)) this.#post(message);
  }

  /** Asks whether the first held commit can be answered without the phrases. */
  #try(): void {
    this.#trying = true;
    this.#post({ type: 'try-commit', stream: this.#id });
    this.#wait ??= this.#clock.after(this.#learningWaitMs, () => {
      this.#waits = false;
      this.#post({ type: 'learning', stream: this.#id, learning: false });
      this.#release();
    });
  }

  /** The thread answered a try. */
  #tried(committed: boolean): void {
    this.#trying = false;
    if (committed) {
      this.#held.shift();
      this.#wait?.cancel();
      this.#wait = undefined;
      const next = this.#held.findIndex(({ type }) => type === 'commit');
      for (const message of this.#held.splice(0, next === -1 ? Infinity : next)) this.#post(message);
      if (this.#mayWait && this.#held.length > 0) this.#try();
    }
    if (!this.#mayWait) this.#release();
  }

  push(pcm: Int16Array): void {
    if (this.#over !== undefined) return;
    const message: ToWorker = { type: 'push', stream: this.#id, pcm };
    // Posting copies the samples; a message held back needs a copy of its own.
    if (this.#held.length > 0) this.#held.push({ ...message, pcm: pcm.slice() });
    else this.#post(message);
  }

  commit(): Promise<readonly RecognitionResult[]> {
    if (this.#over !== undefined) return Promise.reject(new RecognitionUnavailableError(this.#over));
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.after(COMMIT_DEADLINE_MS + (this.#learning > 0 ? this.#learningWaitMs : 0), () =>
        this.#leave('the recogniser does not answer'),
      );
      this.#commits.push({ resolve, reject, deadline });
      const isFirst = this.#held.length === 0;
      const message: ToWorker = { type: 'commit', stream: this.#id };
      if (isFirst && !this.#mayWait) this.#post(message);
      else this.#held.push(message);
      if (isFirst && this.#mayWait) this.#try();
    });
  }

  close(): void {
    this.#leave('the stream is closed');
  }

  received(message: Exclude<FromWorker, { type: 'ready' }>): void {
    switch (message.type) {
      case 'partial':
        this.#listener({ type: 'partial', text: message.text });
        return;
      case 'segment':
        this.#listener({ type: 'segment', result: message.result });
        return;
      case 'undecided':
        this.#tried(false);
        return;
      case 'committed': {
        if (message.tried) this.#tried(true);
        const commit = this.#commits.shift();
        commit?.deadline.cancel();
        commit?.resolve(message.results);
        return;
      }
      case 'failed':
        this.fail(message.reason);
    }
  }

  /** Ends the stream here and its session in the thread. */
  #leave(reason: string): void {
    if (this.#over !== undefined) return;
    this.#post({ type: 'close', stream: this.#id });
    this.fail(reason);
  }

  /** Ends a stream that has no session in the thread any more. */
  fail(reason: string): void {
    this.#over ??= reason;
    this.#held.length = 0;
    this.#wait?.cancel();
    this.#forget();
    for (const commit of this.#commits.splice(0)) {
      commit.deadline.cancel();
      commit.reject(new RecognitionUnavailableError(reason));
    }
  }
}
