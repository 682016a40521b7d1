interface Task {
  readonly priority: 'live' | 'batch';
  readonly signal: AbortSignal;
  start(): void;
  drop(): void;
}

/**
 * Limits how many texts are synthesized at once. Live calls go first, and one of several places is reserved for them: a call never waits for a batch.
 * A piece whose request was aborted does not start.
 */
export class RenderQueue {
  readonly #most: number;
  readonly #waiting: Task[] = [];
  readonly #running = { live: 0, batch: 0 };

  /** @param most pieces at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** @throws what the work throws, or the signal's reason before it started */
  run<Value>(work: () => Promise<Value>, priority: 'live' | 'batch', signal: AbortSignal): Promise<Value> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        const place = this.#waiting.indexOf(task);
        if (place >= 0) this.#waiting.splice(place, 1);
        task.drop();
      };
      const task: Task = {
        priority,
        signal,
        start: () => {
          signal.removeEventListener('abort', aborted);
          this.#running[priority] += 1;
          work()
            .finally(() => {
              this.#running[priority] -= 1;
              this.#next();
            })
            .then(resolve, reject);
        },
        drop: () => reject(signal.reason as Error),
      };
      if (signal.aborted) {
        task.drop();
        return;
      }
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.push(task);
      this.#next();
    });
  }

  #next(): void {
    for (;;) {
      const { live, batch } = this.#running;
      if (live + batch >= this.#most) return;
      const liveFirst = this.#waiting.findIndex(({ priority }) => priority === 'live');
      const forBatch = live + batch < Math.max(1, this.#most - 1);
      const place = liveFirst >= 0 || !forBatch ? liveFirst : 0;
      const [task] = place < 0 ? [] : this.#waiting.splice(place, 1);
      if (task === undefined) return;
      task.start();
    }
  }
}
