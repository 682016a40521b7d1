import type { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { startWorker } from '../../../kernel/entry-file.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { within } from '../../../kernel/waiting.ts';
import { errorText } from '../../../kernel/errors.ts';
import type { BusinessEvents } from '../../../observability/events.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { EndOfTurnListener } from './turn-sound.ts';

/** Questions that wait for the thread at once: an answer behind more of them would come after the turn was decided. */
const MOST_WAITING = 4;
/** A thread that has not ended by then is left to the end of the process. */
const END_WITHIN_MS = 10_000;

export interface EndOfTurnThreadOptions {
  /** The model's `.onnx` file. */
  readonly path: string;
  readonly events: Pick<BusinessEvents, 'endOfTurnAsked'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock: Clock;
  /** Starts the thread; its own when absent. */
  readonly start?: (data: object) => Worker;
}

const answerSchema = z.object({ id: z.int(), likelihood: z.number() });

/**
 * Runs an end-of-turn model on one thread for all calls of the process. Calls never wait for it: a question that it cannot take gets no answer, and
 * without answers turns end by silence and words.
 */
export class EndOfTurnThread implements EndOfTurnListener, AsyncDisposable {
  readonly #options: EndOfTurnThreadOptions;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (likelihood: number) => void>();
  #next = 0;
  #state: 'starting' | 'running' | 'gone' = 'starting';
  /** Resolves when the thread can answer, or has failed. */
  readonly settled: Promise<void>;
  readonly #ended: Promise<void>;

  constructor(options: EndOfTurnThreadOptions) {
    const { path, start = (data) => startWorker(import.meta.url, 'end-of-turn-worker', data) } = options;
    this.#options = options;
    this.#worker = start({ path });
    this.#worker.unref();
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.settled = new Promise((resolve) => {
      this.#worker.on('message', (message: unknown) => {
        if (message === 'ready') {
          if (this.#state === 'starting') this.#state = 'running';
          resolve();
        } else this.#answered(message);
      });
      const gone = (error: string): void => {
        this.#fail(error);
        resolve();
      };
      this.#worker.once('error', (error) => gone(errorText(error)));
      this.#worker.once('exit', () => gone('the thread has ended'));
    });
  }

  ask(pcm: Int16Array, answered: (likelihood: number) => void): void {
    const { events } = this.#options;
    if (this.#state !== 'running' || this.#waiting.size >= MOST_WAITING) {
      events.endOfTurnAsked({ answered: false });
      return;
    }
    const id = this.#next;
    this.#next += 1;
    this.#waiting.set(id, answered);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    this.#worker.postMessage({ id, pcm });
  }

  /**
   * Has the thread end by itself, after an inference that runs; calls that are still open go on without it. It is never terminated: ONNX Runtime
   * aborts the whole process where its thread is taken away in the middle of its work.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#waiting.clear();
    this.#worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    this.#worker.postMessage('stop');
    await within(this.#options.clock, END_WITHIN_MS, this.#ended, undefined);
    this.#worker.unref();
  }

  #answered(message: unknown): void {
    const { id, likelihood } = answerSchema.parse(message);
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answered === undefined) return;
    this.#options.events.endOfTurnAsked({ answered: true });
    answered(likelihood);
  }

  #fail(error: string): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#waiting.clear();
    this.#options.logger.warn({ error }, 'end-of-turn model failed: turns end by silence and words');
  }
}
