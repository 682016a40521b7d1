import { z } from 'zod';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { startWorker } from '../../kernel/entry-file.ts';
import { within } from '../../kernel/waiting.ts';
import { StoreUnavailableError } from '../errors.ts';
import type { Backend } from './session-gate.ts';

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** What the store's thread is started with. */
export const engineOrder = z.discriminatedUnion('type', [
  z.object({ type: z.literal('exec'), id: z.number(), batch: bytes }),
  z.object({ type: z.literal('close') }),
]);

/** What it says back. `broken` ends it. */
export const engineReport = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('reply'), id: z.number(), reply: bytes }),
  z.object({ type: z.literal('broken'), reason: z.string() }),
  z.object({ type: z.literal('closed') }),
]);

export type EngineOrder = z.infer<typeof engineOrder>;
export type EngineReport = z.infer<typeof engineReport>;

/** A cluster that does not close within this time is cut off; its log makes it whole again at the next start. */
const CLOSE_MS = 15_000;
/** The first start of all makes the cluster, which takes seconds, and more on a busy machine. */
const START_MS = 120_000;
/** A batch is one query of a small database. One that takes longer will never end. */
const BATCH_MS = 30_000;
/** The last part of these. */
const LAST_MS = 1_000;

interface Waiting {
  resolve(reply: Uint8Array): void;
  reject(error: Error): void;
}

/** Postgres in WebAssembly, in a worker thread of this process. Only the holder of the store's lock may start one. */
export class Engine implements Backend, AsyncDisposable {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #failure: Error | undefined;
  #closed: Promise<void> | undefined;

  private constructor(worker: Worker, clock: Clock) {
    this.#worker = worker;
    this.#clock = clock;
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the thread ended')));
  }

  /**
   * Opens the data directory, creating a new cluster when it is empty (seconds, and several hundred megabytes while it lasts).
   * @throws StoreUnavailableError when it cannot be opened
   */
  static async start(dataDir: string, clock: Clock): Promise<Engine> {
    const worker = startWorker(import.meta.url, 'engine-worker', { dataDir });
    const engine = new Engine(worker, clock);
    const limit = engine.#limit(START_MS);
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: unknown) => {
        const report = engineReport.parse(message);
        switch (report.type) {
          case 'ready':
            resolve();
            break;
          case 'reply':
            engine.#waiting.get(report.id)?.resolve(report.reply);
            engine.#waiting.delete(report.id);
            break;
          case 'broken':
            engine.#fail(new Error(report.reason));
            break;
          case 'closed':
            break;
        }
        if (engine.#failure !== undefined) reject(engine.#failure);
      });
      worker.once('exit', () => reject(engine.#failure ?? new Error('the thread ended')));
    })
      .catch(async (error: unknown) => {
        await worker.terminate();
        throw new StoreUnavailableError('the embedded store could not be opened', { cause: error, facts: { dataDir } });
      })
      .finally(() => limit.cancel());
    return engine;
  }

  /** Why the thread is gone; nothing can be run then. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  exec(batch: Uint8Array): Promise<Uint8Array> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const limit = this.#limit(BATCH_MS);
    const id = this.#nextId++;
    return new Promise<Uint8Array>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#order({ type: 'exec', id, batch });
    }).finally(() => limit.cancel());
  }

  /** Ends the thread at once; the log of the cluster makes it whole at the next start. */
  discard(error: Error): void {
    this.#fail(error);
  }

  /** Lets the batch in hand finish, closes the cluster cleanly and ends the thread. */
  close(): Promise<void> {
    this.#closed ??= this.#stop();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(): Promise<void> {
    if (this.#failure === undefined) {
      const exited = once(this.#worker, 'exit');
      this.#order({ type: 'close' });
      await within(this.#clock, CLOSE_MS, exited, undefined);
    }
    await this.#worker.terminate();
  }

  #order(order: EngineOrder): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    this.#worker.postMessage(order);
  }

  /** In two parts: a process that itself stood still for as long reads the answer that lies there between them. */
  #limit(withinMs: number): Timer {
    const late = (): void => this.#fail(new Error(`the engine did not answer within ${withinMs} ms`));
    let timer = this.#clock.after(withinMs - LAST_MS, () => {
      timer = this.#clock.after(LAST_MS, late);
    });
    return { cancel: () => timer.cancel() };
  }

  #fail(error: Error): void {
    if (this.#failure === undefined) void this.#worker.terminate();
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }
}
