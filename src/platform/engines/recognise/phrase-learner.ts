import type { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Logger } from '../../../observability/logger.ts';

/** Learning a phrase takes one or two seconds of CPU. */
export const MOST_LEARNT_PHRASES = 50;
const MOST_LETTERS = 60;

/** Whether the synthesizers of a language can speak a phrase, so that it can be learnt. */
export function canBeLearnt(language: string, phrase: string): boolean {
  if (phrase.length > MOST_LETTERS || !/[\p{L}\p{N}]/u.test(phrase)) return false;
  return language !== 'en' || /^[\p{Script=Latin}\p{M}\p{N}\p{P}\s]+$/u.test(phrase);
}

/** Models cached, some 20 kB a word. */
const MOST_KEPT = 500;

const answerSchema = z.object({ id: z.number(), model: z.instanceof(Uint8Array).optional(), reason: z.string().optional() });

/** A phrase with the encoded model of its words. */
export interface LearntPhrase {
  readonly phrase: string;
  readonly model: Uint8Array;
}

/** Trains models of phrases, each once, in a thread that starts with the first one. */
export class PhraseLearner implements Disposable {
  readonly #startThread: () => Worker;
  readonly #logger: Logger;
  /** By language and phrase, the least recently used first. */
  readonly #kept = new Map<string, Promise<LearntPhrase | undefined>>();
  readonly #waiting = new Map<number, (model: Uint8Array | undefined) => void>();
  #thread: Worker | undefined;
  #nextId = 1;

  constructor(startThread: () => Worker, logger: Logger) {
    this.#startThread = startThread;
    this.#logger = logger;
  }

  /** @returns undefined when no voice can speak it, or the thread ended */
  learn(language: string, phrase: string): Promise<LearntPhrase | undefined> {
    const key = `${language} ${phrase}`;
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    const learnt =
      known ??
      this.#ask(language, phrase).then((model) => {
        if (model === undefined) this.#kept.delete(key);
        return model && { phrase, model };
      });
    this.#kept.set(key, learnt);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return learnt;
  }

  #ask(language: string, phrase: string): Promise<Uint8Array | undefined> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#running().postMessage({ id, language, phrase }, []);
    });
  }

  #running(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = this.#startThread();
    this.#thread = thread;
    thread.unref();
    thread.on('message', (message: unknown) => {
      const { id, model, reason } = answerSchema.parse(message);
      if (reason !== undefined) this.#logger.warn({ reason }, 'a boosted phrase could not be learnt');
      this.#waiting.get(id)?.(model);
      this.#waiting.delete(id);
    });
    thread.on('error', (error) => this.#logger.error({ error }, 'learning boosted phrases failed'));
    thread.once('exit', () => {
      this.#thread = undefined;
      for (const resolve of this.#waiting.values()) resolve(undefined);
      this.#waiting.clear();
    });
    return thread;
  }

  [Symbol.dispose](): void {
    void this.#thread?.terminate();
  }
}
