import type { Harness, Health } from './harness.ts';

/** Above this the machine was too busy to measure on: all that came out of that stretch is thrown away. */
const MOST_P99_MS = 20;
/** How many more batches may be run, in place of what was thrown away, than were wanted. */
const MORE_BATCHES = 3;

interface BatchReport extends Health {
  readonly set: string;
  readonly kept: number;
  /** Results thrown away. */
  readonly void: number;
}

/** Runs calls side by side. Every batch is reported, whatever was kept of it. */
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
   * @param set name of what is measured
   * @param run one call of the batch, from its dialling to its end
   */
  async run<Result>(set: string, run: (index: number) => Promise<readonly Result[]>): Promise<readonly Result[]> {
    await this.harness.health();
    const indices = Array.from({ length: this.calls }, (_, index) => index);
    const results = (await Promise.all(indices.map((index) => run(index)))).flat();
    const health = await this.harness.health();
    const kept = Math.max(health.generatorP99Ms, health.gatewayP99Ms) > MOST_P99_MS ? [] : results;
    const report: BatchReport = { set, ...health, kept: kept.length, void: results.length - kept.length };
    this.reports.push(report);
    process.stderr.write(`${JSON.stringify(report)}\n`);
    return kept;
  }

  /** As many batches as it takes to have `wanted` results of `each` a call; fewer results where too many were thrown away. */
  async collect<Result>(
    set: string,
    wanted: number,
    each: number,
    run: (index: number, count: number) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const results: Result[] = [];
    const most = Math.ceil(wanted / (each * this.calls)) + MORE_BATCHES;
    for (let batch = 0; batch < most && results.length < wanted; batch += 1) {
      const left = Math.ceil((wanted - results.length) / this.calls);
      results.push(...(await this.run(set, (place) => run(batch * this.calls + place, Math.min(each, left)))));
    }
    return results;
  }
}
