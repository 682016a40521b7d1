/** Lets concurrent callers share one run of a task; a failure is not remembered. */
export class SingleFlight<Value> {
  #running: Promise<Value> | undefined;

  run(task: () => Promise<Value>): Promise<Value> {
    this.#running ??= task().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
