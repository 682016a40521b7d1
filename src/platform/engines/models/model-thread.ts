import { parentPort, type Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { errorText, type OffhookError } from '../../../kernel/errors.ts';
import type { Logger } from '../../../observability/logger.ts';

/** The thread's messages: `ready` once, then an answer to each question, in any order. */
const fromThread = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ id: z.number(), answer: z.unknown() }),
  z.object({ id: z.number(), failed: z.string() }),
]);

const questionSchema = z.object({ id: z.number(), question: z.unknown() });

export interface ModelThreadOptions {
  /** For the log and for errors. */
  readonly name: string;
  readonly startThread: () => Worker;
  /** For loading the models, and for each answer. */
  readonly deadlineMs: number;
  readonly unavailable: (reason: string) => OffhookError;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: Timer;
}

/** A thread with models, which answers questions; a thread that ended is restarted by the next question. */
export class ModelThread implements AsyncDisposable {
  readonly #options: ModelThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Promise<Worker> | undefined;
  #nextId = 1;
  #closed = false;

  constructor(options: ModelThreadOptions) {
    this.#options = options;
  }

  /** Resolves when the models are loaded; closes itself when they cannot be. @throws the error of `unavailable` */
  async start(): Promise<void> {
    try {
      await (this.#worker ??= this.#started());
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @throws the error of `unavailable` when the thread ends, is too slow, or fails */
  async ask(question: unknown): Promise<unknown> {
    if (this.#closed) throw this.#options.unavailable(`${this.#options.name} is closed`);
    const worker = await (this.#worker ??= this.#started());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      // The thread works on one question at a time: a slow one blocks all others, so the thread is ended.
      const deadline = this.#options.clock.after(this.#options.deadlineMs, () => void worker.terminate());
      this.#waiting.set(id, { resolve, reject, deadline });
      worker.postMessage({ id, question }, []);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const worker = await this.#worker?.catch(() => undefined);
    await worker?.terminate();
  }

  #started(): Promise<Worker> {
    const { name, startThread, deadlineMs, unavailable, clock, logger } = this.#options;
    return new Promise((resolve, reject) => {
      const worker = startThread();
      const deadline = clock.after(deadlineMs, () => void worker.terminate());
      worker.on('error', (error) => logger.error({ error, thread: name }, 'model thread failed'));
      worker.once('exit', () => {
        deadline.cancel();
        this.#worker = undefined;
        const gone = unavailable(`${name} is not running`);
        reject(gone);
        for (const each of this.#take()) each.reject(gone);
      });
      worker.on('message', (raw: unknown) => {
        const message = fromThread.parse(raw);
        if ('ready' in message) {
          deadline.cancel();
          resolve(worker);
          return;
        }
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        waiting?.deadline.cancel();
        if ('failed' in message) waiting?.reject(unavailable(`${name}: ${message.failed}`));
        else waiting?.resolve(message.answer);
      });
    });
  }

  #take(): Waiting[] {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { deadline } of all) deadline.cancel();
    return all;
  }
}

/** The thread's side: answers every question, or says why it failed. */
export function serveThread(answer: (question: unknown) => unknown): void {
  parentPort?.on('message', (raw) => {
    const { id, question } = questionSchema.parse(raw);
    try {
      parentPort?.postMessage({ id, answer: answer(question) }, []);
    } catch (error) {
      parentPort?.postMessage({ id, failed: errorText(error) }, []);
    }
  });
  parentPort?.postMessage({ ready: true }, []);
}
