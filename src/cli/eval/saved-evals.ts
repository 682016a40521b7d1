import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { EvalRuns, type StartedRun, callKey } from '../../rehearsal/evals/eval-runs.ts';
import type { Rehearsal } from '../../rehearsal/evals/rehearsal.ts';
import type { RunResult, ScenarioResult } from '../../rehearsal/evals/run-suites.ts';
import { savedRunOf } from '../../rehearsal/evals/saved-run.ts';
import type { Suite } from '../../rehearsal/evals/suite-file.ts';
import type { Configuration } from '../setup/configuration.ts';
import { printNote, UsageError } from '../shell/output.ts';

/** What a run is asked for, as far as going on with it needs to know. */
export interface AskedRun {
  readonly names: readonly string[];
  readonly flags: {
    readonly runs?: number;
    readonly seed?: number;
    readonly share?: number;
    readonly only?: readonly string[];
    readonly tag?: readonly string[];
    readonly depth: string;
    readonly carrier: string;
    readonly resume?: boolean;
    readonly save: boolean;
  };
  readonly suites: readonly Suite[];
  readonly configuration: Configuration;
}

/** Keeps a run of `offhook eval` in the data folder: its calls as they are made, so that it can go on, and its results. */
export class SavedEvals {
  readonly seed: number;
  readonly #asked: AskedRun;
  readonly #runs: EvalRuns;
  /** Undefined where nothing is kept. */
  readonly #run: StartedRun | undefined;
  readonly #startedAtMs = systemClock.wallMs();
  readonly #versions = new Map<Suite, string>();
  #sounds: number;

  private constructor(asked: AskedRun, runs: EvalRuns, seed: number, run: StartedRun | undefined) {
    this.#asked = asked;
    this.#runs = runs;
    this.seed = seed;
    this.#run = run;
    this.#sounds = run?.made.size ?? 0;
  }

  /** @throws UsageError where there is nothing to go on with */
  static async open(asked: AskedRun): Promise<SavedEvals> {
    const { flags, names, configuration } = asked;
    const runs = new EvalRuns(configuration.config.settings.dataDir);
    const { runs: times, seed, share, only, tag, depth, carrier } = flags;
    const key = createHash('sha256')
      .update(JSON.stringify([names, times, seed, share, only, tag, depth, carrier]))
      .digest('hex');
    if (flags.resume === true) {
      const resumed = await runs.resume(key);
      if (resumed === undefined) throw new UsageError('there is no stopped run of these arguments to go on with');
      printNote(`Going on with the run ${resumed.id}: ${resumed.made.size} calls were made.`);
      return new SavedEvals(asked, runs, resumed.seed, resumed);
    }
    const chosen = seed ?? Math.floor(Math.random() * 2 ** 31);
    const run = flags.save ? await runs.begin({ seed: chosen, asked: key }, systemClock.wallMs()) : undefined;
    return new SavedEvals(asked, runs, chosen, run);
  }

  /** A call that was made before the run went on. */
  readonly made = (suite: Suite, { name }: { readonly name: string }, seed: number): RunResult | undefined =>
    this.#run?.made.get(this.#keyOf(suite, name, seed));

  /** Where the sound of a call is kept. */
  readonly soundPath = (_rehearsal: Rehearsal): string | undefined => {
    if (this.#run === undefined) return undefined;
    this.#sounds += 1;
    return join(this.#run.folder, `${this.#sounds}.wav`);
  };

  add(suite: Suite, { name }: { readonly name: string }, result: RunResult): void {
    const key = this.#keyOf(suite, name, result.seed);
    if (this.#run === undefined || this.#run.made.has(key)) return;
    this.#run.add(key, result);
    // Only failures are listened to.
    if (result.ok && result.call.sound !== undefined) rmSync(result.call.sound, { force: true });
  }

  async finish(results: readonly ScenarioResult[], stopped: boolean): Promise<void> {
    if (this.#run === undefined) return;
    const { flags, configuration } = this.#asked;
    const { id, folder } = this.#run;
    await this.#run.finish(
      savedRunOf(results, {
        id,
        startedAtMs: this.#startedAtMs,
        endedAtMs: systemClock.wallMs(),
        depth: flags.depth,
        seed: this.seed,
        stopped,
        botFacts: (name) => {
          const bot = configuration.bots.find((each) => each.name === name);
          return { tenant: bot?.tenant ?? '', version: bot?.version ?? '' };
        },
        before: await this.#runs.before(flags.depth, id),
        soundOf: ({ sound }) => (sound?.startsWith(folder) === true && existsSync(sound) ? basename(sound) : undefined),
      }),
    );
  }

  #keyOf(suite: Suite, scenario: string, seed: number): string {
    return callKey({ path: suite.path, version: this.#versionOf(suite) }, scenario, seed);
  }

  /** Changes with the suite's file and the bot's. */
  #versionOf(suite: Suite): string {
    const known = this.#versions.get(suite);
    if (known !== undefined) return known;
    const bot = this.#asked.configuration.bots.find(({ name }) => name === suite.bot);
    const version = createHash('sha256')
      .update(readFileSync(suite.path))
      .update(bot?.version ?? '')
      .digest('hex');
    this.#versions.set(suite, version);
    return version;
  }
}

/** The WAV file of a call that is kept. */
export function soundAt(path: string | undefined): Uint8Array | undefined {
  return path !== undefined && existsSync(path) ? readFileSync(path) : undefined;
}
