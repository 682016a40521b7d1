import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../observability/logger.ts';
import { decodeModel } from './acoustic-model.ts';
import { FEATURES } from './features.ts';
import type { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { phraseWords } from './add-phrases.ts';

/** Some 50 kB each. */
const MOST_FILES = 1_000;
/** Files that are removed at once when there are too many. */
const REMOVED_AT_ONCE = 100;
const ENDING = '.phrase';

/**
 * Models of learnt phrases on disk, so that a restart learns nothing again. The names are hashes of the phrase, its language and the code
 * that learns; the files hold the words. The least recently used ones are removed.
 */
export class LearntFiles {
  readonly #folder: string;
  readonly #code: Promise<string>;
  readonly #logger: Logger;
  #count: number | undefined;

  /** @param code a hash of all that a model depends on besides its phrase */
  constructor(folder: string, code: Promise<string>, logger: Logger) {
    this.#folder = folder;
    this.#code = code;
    this.#logger = logger;
    // Awaited where it is used; a failure there counts as no file.
    code.catch(() => undefined);
  }

  /** @param key language and phrase. @returns undefined where there is no whole file */
  async read(key: string): Promise<Uint8Array | undefined> {
    try {
      const path = await this.#path(key);
      const model = await readFile(path);
      decodeModel(model, FEATURES);
      const now = new Date();
      await utimes(path, now, now);
      return model;
    } catch {
      return undefined;
    }
  }

  /** Writes a whole file, or logs why not: a full disk costs only time later. */
  async write(key: string, model: Uint8Array): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const path = await this.#path(key);
      const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
      await writeFile(unfinished, model, { mode: 0o600 });
      await rename(unfinished, path);
      this.#count = (this.#count ?? (await this.#names()).length - 1) + 1;
      if (this.#count > MOST_FILES) await this.#removeOldest();
    } catch (error) {
      this.#logger.warn({ error }, 'a learnt phrase could not be stored; it is learnt again after a restart');
    }
  }

  async #path(key: string): Promise<string> {
    const hash = createHash('sha256')
      .update(await this.#code)
      .update(key);
    return join(this.#folder, `${hash.digest('hex').slice(0, 32)}${ENDING}`);
  }

  async #names(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => name.includes(ENDING));
  }

  async #removeOldest(): Promise<void> {
    const paths = (await this.#names()).map((name) => join(this.#folder, name));
    const used = await Promise.all(
      paths.map(async (path) => ({
        path,
        atMs: await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => Infinity,
        ),
      })),
    );
    const least = used.sort((a, b) => a.atMs - b.atMs).slice(0, REMOVED_AT_ONCE);
    await Promise.all(least.map(({ path }) => rm(path, { force: true })));
    this.#count = undefined;
  }
}

/** Phrases of one stream. */
export const MOST_LEARNT_PHRASES = 50;
const MOST_LETTERS = 60;

/** Whether the synthesizers of a language can speak a phrase, so that it can be learnt. */
export function canBeLearnt(language: string, phrase: string): boolean {
  if (phrase.length > MOST_LETTERS || !/[\p{L}\p{N}]/u.test(phrase)) return false;
  return language !== 'en' || /^[\p{Script=Latin}\p{M}\p{N}\p{P}\s]+$/u.test(phrase);
}

/** Models cached in memory, some 20 kB a word. */
const MOST_KEPT = 500;
/** Phrases in the thread at once: while one is trained, the synthesizers speak the other. */
const AT_ONCE = 2;
/** The thread and its synthesizers end when they had nothing to do for this long. */
const IDLE_MS = 60_000;

const answerSchema = z.object({ id: z.number(), model: z.instanceof(Uint8Array).optional(), reason: z.string().optional() });

/** A phrase with the encoded model of its words. */
export interface LearntPhrase {
  readonly phrase: string;
  readonly model: Uint8Array;
}

/** A turn that waits for a phrase goes before a vocabulary that is learnt in advance. */
type LearningUrgency = 'turn' | 'vocabulary';

interface Wanted {
  readonly key: string;
  readonly language: string;
  readonly phrase: string;
  urgency: LearningUrgency;
  settle: (model: Uint8Array | undefined) => void;
}

interface PhraseLearnerOptions {
  /** Starts a thread that answers `{ id, language, phrase }` with `{ id, model }` or `{ id, reason }`. */
  readonly startThread: () => Worker;
  /** Learnt models on disk; none are kept without it. */
  readonly files?: LearntFiles | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Trains models of phrases, each once: in memory, then on disk, then in a thread that starts with the first one to learn. */
export class PhraseLearner implements Disposable {
  readonly #options: PhraseLearnerOptions;
  /** By language and phrase, the least recently used first. */
  readonly #kept = new Map<string, { readonly wanted: Wanted; readonly learnt: Promise<LearntPhrase | undefined> }>();
  readonly #queue: Wanted[] = [];
  readonly #asked = new Map<number, Wanted>();
  #thread: Worker | undefined;
  #idle: Timer | undefined;
  #nextId = 1;
  #closed = false;

  constructor(options: PhraseLearnerOptions) {
    this.#options = options;
  }

  /** @returns undefined when no voice can speak it, or the thread ended */
  learn(language: string, phrase: string, urgency: LearningUrgency = 'turn'): Promise<LearntPhrase | undefined> {
    const key = `${language} ${phraseWords(phrase).join(' ')}`;
    const entry = this.#kept.get(key) ?? this.#start({ key, language, phrase, urgency, settle: () => undefined });
    if (urgency === 'turn') entry.wanted.urgency = urgency;
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return entry.learnt;
  }

  #start(wanted: Wanted) {
    const { key, phrase } = wanted;
    const learnt = this.#find(wanted).then((model) => {
      if (model === undefined) this.#kept.delete(key);
      return model && { phrase, model };
    });
    return { wanted, learnt };
  }

  async #find(wanted: Wanted): Promise<Uint8Array | undefined> {
    const { files } = this.#options;
    const stored = await files?.read(wanted.key);
    if (stored !== undefined || this.#closed) return stored;
    const model = await new Promise<Uint8Array | undefined>((settle) => {
      wanted.settle = settle;
      this.#queue.push(wanted);
      this.#next();
    });
    if (model !== undefined) await files?.write(wanted.key, model);
    return model;
  }

  #next(): void {
    while (!this.#closed && this.#asked.size < AT_ONCE) {
      const first = Math.max(
        0,
        this.#queue.findIndex(({ urgency }) => urgency === 'turn'),
      );
      const [wanted] = this.#queue.splice(first, 1);
      if (wanted === undefined) break;
      const id = this.#nextId++;
      this.#asked.set(id, wanted);
      const { language, phrase } = wanted;
      this.#running().postMessage({ id, language, phrase }, []);
    }
    this.#idle?.cancel();
    if (this.#asked.size === 0) this.#idle = this.#options.clock.after(IDLE_MS, () => void this.#thread?.terminate());
  }

  #running(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const { startThread, logger } = this.#options;
    const thread = startThread();
    this.#thread = thread;
    thread.unref();
    thread.on('message', (message: unknown) => {
      const { id, model, reason } = answerSchema.parse(message);
      if (reason !== undefined) logger.warn({ reason }, 'a phrase could not be learnt');
      const wanted = this.#asked.get(id);
      this.#asked.delete(id);
      wanted?.settle(model);
      this.#next();
    });
    thread.on('error', (error) => logger.error({ error }, 'learning phrases failed'));
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
      const lost = [...this.#asked.values()];
      this.#asked.clear();
      for (const { settle } of lost) settle(undefined);
      this.#next();
    });
    return thread;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#idle?.cancel();
    for (const { settle } of this.#queue.splice(0)) settle(undefined);
    void this.#thread?.terminate();
  }
}
