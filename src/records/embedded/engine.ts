import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { startWorker } from '../../kernel/entry-file.ts';
import { within, SingleFlight } from '../../kernel/waiting.ts';
import { StoreUnavailableError } from '../errors.ts';
import type { Backend } from './session-gate.ts';
import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import { QUEUE_SCHEMA } from '../postgres/connection.ts';
import type { EngineOrder, EngineReport, EngineStart } from './engine-messages.ts';
import { queryMessage } from './wire.ts';

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
class Engine implements Backend, AsyncDisposable {
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
    const start: EngineStart = { dataDir };
    const worker = startWorker(import.meta.url, 'engine-worker', start);
    const engine = new Engine(worker, clock);
    const limit = engine.#limit(START_MS);
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (report: EngineReport) => {
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

/** Opening a cluster takes half a second of a processor: where that fails, as on a full disk, it is not tried with every query. */
const BACKOFF: BackoffPolicy = { firstMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0 };

/**
 * Keeps an engine at hand: when one has died (WebAssembly that runs out of memory takes its thread along), the next batch
 * starts another on the same directory, which its log makes whole again. The batch in hand at the time fails.
 */
export class EngineHost implements Backend, AsyncDisposable {
  readonly #start: () => Promise<Engine>;
  readonly #clock: Clock;
  readonly #onProblem: (error: Error) => void;
  readonly #starting = new SingleFlight<void>();
  #engine: Engine;
  #closed = false;
  /** Starts that failed since there was an engine, and when the next one is tried. */
  #failedStarts = 0;
  #nextStartMs = Number.NEGATIVE_INFINITY;

  private constructor(start: () => Promise<Engine>, engine: Engine, clock: Clock, onProblem: (error: Error) => void) {
    this.#start = start;
    this.#engine = engine;
    this.#clock = clock;
    this.#onProblem = onProblem;
  }

  /** @throws StoreUnavailableError when the directory cannot be opened */
  static async start(dataDir: string, clock: Clock, onProblem: (error: Error) => void): Promise<EngineHost> {
    const start = async (): Promise<Engine> => {
      const engine = await Engine.start(dataDir, clock);
      try {
        // All sessions share one backend, so this holds for every query of BullMQ, which names no schema.
        await engine.exec(queryMessage(`SET search_path TO ${QUEUE_SCHEMA}, public`));
      } catch (error) {
        await engine.close();
        throw error;
      }
      return engine;
    };
    return new EngineHost(start, await start(), clock, onProblem);
  }

  async exec(batch: Uint8Array): Promise<Uint8Array> {
    const { failure } = this.#engine;
    if (failure !== undefined && !this.#closed) await this.#starting.run(() => this.#startAgain(failure));
    return this.#engine.exec(batch);
  }

  discard(error: Error): void {
    this.#engine.discard(error);
  }

  async #startAgain(failure: Error): Promise<void> {
    if (this.#clock.nowMs() < this.#nextStartMs) throw failure;
    this.#onProblem(failure);
    try {
      this.#engine = await this.#start();
      this.#failedStarts = 0;
    } catch (error) {
      this.#nextStartMs = this.#clock.nowMs() + backoffDelayMs(BACKOFF, this.#failedStarts++, 0);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
