import type { Harness, Health } from './harness.ts';

/** Above this the machine was too busy to measure on: what came out of that stretch is thrown away. */
const MOST_P99_MS = 20;
const MOST_MAX_MS = 120;
const TRIES = 3;

export interface BatchReport {
  readonly health: Health;
  readonly kept: boolean;
}

/** Runs calls side by side, and again where a process could not keep up. Every batch is reported, kept or not. */
export class Batches {
  readonly reports: BatchReport[] = [];
  readonly harness: Harness;
  readonly calls: number;

  /** @param calls how many run at once */
  constructor(harness: Harness, calls: number) {
    this.harness = harness;
    this.calls = calls;
  }

  /**
   * @param run one call of the batch, from its dialling to its end
   * @param stalls whether the gateway is stalled on purpose, so that its own lag says nothing
   */
  async run<Result>(run: (index: number) => Promise<readonly Result[]>, stalls = false): Promise<readonly Result[]> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      await this.harness.health();
      const indices = Array.from({ length: this.calls }, (_, index) => index);
      const results = await Promise.all(indices.map((index) => run(index)));
      const health = await this.harness.health();
      const watched = [health.generator, health.platform, ...(stalls ? [] : [health.gateway])];
      const kept = watched.every(({ p99Ms, maxMs }) => p99Ms <= MOST_P99_MS && maxMs <= MOST_MAX_MS);
      this.reports.push({ health, kept });
      process.stderr.write(`batch ${this.reports.length}: ${kept ? 'kept' : 'void'} ${JSON.stringify(health)}\n`);
      if (kept) return results.flat();
    }
    return [];
  }

  /** As many batches as it takes to have `wanted` results of `each` a call; fewer where batches had to be thrown away. */
  async collect<Result>(
    wanted: number,
    each: number,
    run: (index: number, count: number) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const results: Result[] = [];
    let index = 0;
    for (let batches = Math.ceil(wanted / (each * this.calls)); batches > 0 && results.length < wanted; batches -= 1) {
      const left = Math.ceil((wanted - results.length) / this.calls);
      const first = index;
      results.push(...(await this.run((place) => run(first + place, Math.min(each, left)))));
      index += this.calls;
    }
    return results;
  }
}
