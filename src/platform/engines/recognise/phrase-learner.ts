import type { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { phraseWords } from './add-phrases.ts';
import type { LearntFiles } from './learnt-files.ts';

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
export type LearningUrgency = 'turn' | 'vocabulary';

interface Wanted {
  readonly key: string;
  readonly language: string;
  readonly phrase: string;
  urgency: LearningUrgency;
  settle: (model: Uint8Array | undefined) => void;
}

export interface PhraseLearnerOptions {
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
