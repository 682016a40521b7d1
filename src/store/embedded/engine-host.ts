import type { Clock } from '../../kernel/clock.ts';
import { SingleFlight } from '../../kernel/single-flight.ts';
import { QUEUE_SCHEMA } from '../migrate.ts';
import { Engine } from './engine.ts';
import type { Backend } from './session-gate.ts';
import { queryMessage } from './wire-messages.ts';

/**
 * Keeps an engine at hand: when one has died (WebAssembly that runs out of memory takes its thread along), the next batch
 * starts another on the same directory, which its log makes whole again. The batch in hand at the time fails.
 */
export class EngineHost implements Backend, AsyncDisposable {
  readonly #start: () => Promise<Engine>;
  readonly #onProblem: (error: Error) => void;
  readonly #starting = new SingleFlight<Engine>();
  #engine: Engine;
  #closed = false;

  private constructor(start: () => Promise<Engine>, engine: Engine, onProblem: (error: Error) => void) {
    this.#start = start;
    this.#engine = engine;
    this.#onProblem = onProblem;
  }

  /** @throws StoreUnavailableError when the directory cannot be opened */
  static async start(dataDir: string, clock: Clock, onProblem: (error: Error) => void): Promise<EngineHost> {
    const start = async (): Promise<Engine> => {
      const engine = await Engine.start(dataDir, clock);
      // All sessions share one backend, so this holds for every query of BullMQ, which names no schema.
      await engine.exec(queryMessage(`SET search_path TO ${QUEUE_SCHEMA}, public`));
      return engine;
    };
    return new EngineHost(start, await start(), onProblem);
  }

  async exec(batch: Uint8Array): Promise<Uint8Array> {
    const { failure } = this.#engine;
    if (failure !== undefined && !this.#closed) {
      this.#onProblem(failure);
      this.#engine = await this.#starting.run(this.#start);
    }
    return this.#engine.exec(batch);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
