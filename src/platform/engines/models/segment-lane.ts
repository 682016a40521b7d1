import { errorText } from '../../../kernel/errors.ts';
import type { Heard } from './heard.ts';
import type { SegmentJob, SegmentModel } from './segment-model.ts';

interface Queued {
  readonly model: SegmentModel;
  readonly job: SegmentJob;
  readonly dueMs: () => number;
  readonly resolve: (heard: Heard) => void;
  readonly reject: (error: unknown) => void;
}

/** The segments of one thread, decoded one after another, in order of due time. Early ones are only decoded while no other segment waits. */
export class SegmentLane {
  readonly #queue: Queued[] = [];
  #busy = false;
  /** Settles when nothing is decoded any more. */
  done: Promise<void> = Promise.resolve();

  /** Nothing is decoded and nothing waits. */
  get isIdle(): boolean {
    return !this.#busy && this.#queue.length === 0;
  }

  /** @param dueMs asked for when the lane is free: a segment becomes urgent when its turn is committed */
  decode(model: SegmentModel, job: SegmentJob, dueMs: () => number): Promise<Heard> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ model, job, dueMs, resolve, reject });
      if (!this.#busy) this.done = this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#busy = true;
    // What was asked for in the same moment is compared first.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const order = this.#queue.map((queued) => queued.dueMs());
      const [next] = this.#queue.splice(order.indexOf(Math.min(...order)), 1);
      if (next === undefined) break;
      try {
        next.resolve(await next.model.decode(next.job));
      } catch (error) {
        next.reject(new Error(errorText(error), { cause: error }));
      }
    }
    this.#busy = false;
  }
}
