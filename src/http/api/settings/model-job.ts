import type { Clock } from '../../../kernel/clock.ts';
import { errorText } from '../../../kernel/errors.ts';
import type { ModelOrders, ModelProgress } from './settings-orders.ts';

/** A model that is being fetched and taken into use, or the last one. Times are wall times. */
export interface ModelJob extends ModelProgress {
  readonly model: string;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  /** Why it failed, in one sentence. */
  readonly problem: string | undefined;
  readonly startedMs: number;
  readonly endedMs: number | undefined;
}

/** Fetches speech models, one at a time. */
export class ModelJobs {
  readonly #get: NonNullable<ModelOrders['get']>;
  readonly #clock: Clock;
  #job: ModelJob | undefined;
  #stop = new AbortController();

  constructor(get: NonNullable<ModelOrders['get']>, clock: Clock) {
    this.#get = get;
    this.#clock = clock;
  }

  /** Undefined before the first one. */
  get job(): ModelJob | undefined {
    return this.#job;
  }

  /** Begins to fetch a model of the catalogue. @returns undefined while another one is fetched */
  begin(model: string): ModelJob | undefined {
    if (this.#job?.state === 'running') return undefined;
    this.#stop = new AbortController();
    const step = { step: 'begin', done: 0, all: undefined } as const;
    const job: ModelJob = {
      model,
      ...step,
      state: 'running',
      problem: undefined,
      startedMs: this.#clock.wallMs(),
      endedMs: undefined,
    };
    this.#job = job;
    void this.#run(model, this.#stop.signal);
    return job;
  }

  /** Stops the one that runs; what came of its download is kept for the next time. @returns whether one ran */
  cancel(): boolean {
    if (this.#job?.state !== 'running') return false;
    this.#stop.abort(new Error('cancelled'));
    return true;
  }

  async #run(model: string, signal: AbortSignal): Promise<void> {
    const set = (change: Partial<ModelJob>): void => {
      if (this.#job !== undefined) this.#job = { ...this.#job, ...change };
    };
    try {
      await this.#get(model, { onProgress: set, signal });
      set({ state: 'done' });
    } catch (error) {
      set(signal.aborted ? { state: 'cancelled' } : { state: 'failed', problem: errorText(error) });
    }
    set({ endedMs: this.#clock.wallMs() });
  }
}
