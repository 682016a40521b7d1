import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import { SingleFlight } from '../../kernel/waiting.ts';
import { QUEUE_SCHEMA } from '../postgres/migrate.ts';
import { Engine } from './engine.ts';
import type { Backend } from './session-gate.ts';
import { queryMessage } from './wire.ts';

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
