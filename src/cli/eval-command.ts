import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { costOf } from '../costs/cost.ts';
import { readEnvironment } from '../config/env.ts';
import { problemText } from '../config/problem.ts';
import { stayAwake, systemClock } from '../kernel/clock.ts';
import { errorTextWithCause } from '../kernel/errors.ts';
import { countedAs } from '../outbound/attempt-steps.ts';
import { junitOf } from '../rehearsal/evals/junit.ts';
import { htmlReport } from '../rehearsal/evals/html-report.ts';
import { compareRuns, type EvalOptions, runSuites, type ScenarioResult } from '../rehearsal/evals/run-suites.ts';
import { readFixture } from '../rehearsal/replay/fixture-file.ts';
import { isFolder, readSuites, type Suite, suiteFiles } from '../rehearsal/evals/suite-file.ts';
import type { SoundDepth } from './eval/sound-depth.ts';
import { addJudgeCheckCommand } from './eval/judge-check.ts';
import { addKeepCommand } from './eval/keep.ts';
import { otherVersion } from './eval/other-version.ts';
import { printResults, reportOf } from './eval/report.ts';
import { SavedEvals, soundAt } from './eval/saved-evals.ts';
import { storedKey } from './replay-command.ts';
import { type Configuration, requireConfiguration } from './setup/configuration.ts';
import { Progress } from './shell/progress.ts';
import { countOption, endWithReader, EXIT, numberOption, printJson, ProblemList, UsageError } from './shell/output.ts';

interface EvalFlags {
  readonly runs?: number;
  readonly seed?: number;
  readonly share?: number;
  readonly only?: readonly string[];
  readonly tag?: readonly string[];
  readonly jobs: number;
  readonly deadline: number;
  readonly json?: boolean;
  readonly junit?: string;
  readonly html?: string;
  readonly against?: string;
  readonly depth: 'text' | 'sound';
  readonly carrier: string;
  readonly resume?: boolean;
  readonly save: boolean;
}

/** Which scenarios are run. */
type EvalChoice = Pick<EvalFlags, 'only' | 'tag'>;

/** `offhook eval`: simulated callers call the bots, and a verdict says whether each call went as its scenario expects. */
export function addEvalCommand(program: Command): void {
  const command = program
    .command('eval')
    .description('let simulated callers call your bots by the scenarios of config/evals, and check every call')
    .argument('[suite...]', 'files or folders of suites, or names of bots; all of config/evals when absent')
    .option('--runs <number>', "calls of each scenario, in place of the suites' own number", countOption)
    .option('--seed <number>', 'seed of the first call: the same seed plays the same call', seedOption)
    .option('--share <share>', 'share of the calls of a scenario that must pass, such as 0.8', shareOption)
    .option('--only <name...>', 'only scenarios whose name contains this')
    .option('--tag <tag...>', 'only scenarios with one of these tags')
    .addOption(
      new Option('--depth <depth>', 'text: the session on virtual time; sound: a call through a simulated carrier')
        .choices(['text', 'sound'])
        .default('text'),
    )
    .option('--carrier <name>', 'simulated carrier of calls with sound', 'twilio')
    .option('--jobs <number>', 'calls at the same time; more is quicker where bots wait for servers', countOption, 1)
    .option('--deadline <seconds>', 'longest wait for one answer of a bot', numberOption, 60)
    .option('--json', 'print one JSON document')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--html <file>', 'write the results as one HTML page, with the transcript of each failure')
    .option('--resume', 'go on with the latest run of the same arguments that was stopped')
    .option('--no-save', 'keep no results in the data folder, where the console shows them')
    .option('--against <version>', 'compare with another version of the bots: a folder of bots, or a git revision')
    .action(async (suites: readonly string[], flags: EvalFlags) => {
      endWithReader();
      process.exit(await stayAwake(evaluate(suites, flags)));
    });
  addKeepCommand(command);
  addJudgeCheckCommand(command);
}

/** The largest seed: seeds are 32 bits. */
const MOST_SEED = 2 ** 32 - 1;

function seedOption(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/u.test(text) || seed > MOST_SEED) throw new InvalidArgumentError(`it is a whole number up to ${MOST_SEED}`);
  return seed;
}

function shareOption(text: string): number {
  const share = numberOption(text);
  if (!(share > 0 && share <= 1)) throw new InvalidArgumentError('it is a number above 0, up to 1');
  return share;
}

/** @returns the exit code */
async function evaluate(names: readonly string[], flags: EvalFlags): Promise<number> {
  const json = flags.json === true;
  try {
    if (flags.depth === 'sound' && flags.against !== undefined)
      throw new UsageError('--against compares calls in text: give it without --depth sound');
    const configuration = requireConfiguration();
    const suites = await suitesToRun(names, flags, configuration);
    using progress = new Progress('calls');
    const saving = await SavedEvals.open({ names, flags, suites, configuration });
    const { seed } = saving;
    const startedMs = systemClock.nowMs();
    using stop = new StopSignal();
    await using sound = flags.depth === 'sound' ? await openSound(flags.carrier, suites, configuration, saving) : undefined;
    const options: EvalOptions = {
      ...optionsOf(flags, configuration, seed),
      rehearse: sound?.rehearse,
      signal: stop.signal,
      made: saving.made,
      onCall: ({ scenario: { suite, scenario }, result, calls, of }) => {
        saving.add(suite, scenario, result);
        progress.update(`${calls} of ${of}: ${suite.bot}, ${scenario.name}`, calls / of);
      },
    };
    const before =
      flags.against === undefined
        ? undefined
        : await runBefore(flags.against, suites, { ...options, made: undefined, onCall: () => undefined });
    const results = await runSuites(suites, options);
    progress[Symbol.dispose]();
    const tookMs = Math.round(systemClock.nowMs() - startedMs);
    if (flags.junit !== undefined) writeFileSync(flags.junit, junitOf(results));
    if (flags.html !== undefined)
      writeFileSync(
        flags.html,
        htmlReport(results, {
          seed,
          madeAt: new Date(systemClock.wallMs()).toISOString(),
          soundOf: ({ sound: path }) => soundAt(path),
        }),
      );
    await saving.finish(results, stop.signal.aborted);
    const against = before === undefined ? undefined : { version: flags.against ?? '', changes: compareRuns(before, results) };
    const report = reportOf(results, { seed, tookMs, depth: flags.depth, stopped: stop.signal.aborted, against });
    if (json) printJson(report);
    else printResults(results, report);
    return report.ok ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (json) printJson({ ok: false, error: errorTextWithCause(error) });
    throw error;
  }
}

/** Loaded for calls with sound alone: it brings a gateway along. @throws UsageError for a carrier that is not simulated */
async function openSound(
  carrier: string,
  suites: readonly Suite[],
  { bots }: Configuration,
  { soundPath }: SavedEvals,
): Promise<SoundDepth> {
  const { SoundDepth: Depth } = await import('./eval/sound-depth.ts');
  const called = bots.filter(({ name }) => suites.some(({ bot }) => bot === name));
  return new Depth({ carrier, bots: called, soundPath });
}

/** The same calls with another version of the bots. */
async function runBefore(version: string, suites: readonly Suite[], options: EvalOptions): Promise<readonly ScenarioResult[]> {
  const { settings } = options.gateway;
  using other = await otherVersion(version, settings.bots.folder);
  const missing = suites.find(({ bot }) => !other.bots.some(({ name }) => name === bot));
  if (missing !== undefined) throw new UsageError(`${version} has no bot ${missing.bot}, which ${missing.path} calls`);
  return await runSuites(suites, { ...options, gateway: { settings, bots: other.bots } });
}

/** Options of a run from its flags. */
export function optionsOf(
  flags: EvalChoice & Pick<EvalFlags, 'runs' | 'share' | 'jobs' | 'deadline'>,
  { config, bots }: Configuration,
  seed: number,
): Omit<EvalOptions, 'signal' | 'onCall'> {
  const { runs, share, jobs, deadline } = flags;
  const gateway = { settings: config.settings, bots };
  return {
    gateway,
    isChosen: chooserOf(flags),
    runs,
    share,
    jobs,
    seed,
    deadlineMs: deadline * 1000,
    env: readEnvironment(),
    dispositionOf: (record) => countedAs(record, record.callBackAtWallMs),
    costOf: ({ usage }) => {
      const { currency, total } = costOf(usage, config.prices);
      return total === 'unknown' ? undefined : { currency, total };
    },
    fixture: (path) => readFixture(path, systemClock.wallMs(), storedKey),
  };
}

/** @throws UsageError with every problem of the suites */
export async function suitesToRun(
  names: readonly string[],
  flags: EvalChoice,
  configuration: Configuration,
): Promise<readonly Suite[]> {
  const { suites, problems } = await readSuites(pathsOf(names, configuration), configuration.bots);
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    throw new ProblemList(`${problems.map(problemText).join('\n')}\n${count} in the suites; no call was made.`);
  }
  if (!suites.some(({ scenarios }) => scenarios.some(chooserOf(flags)))) throw new UsageError('no scenario has this name or tag');
  return suites;
}

/** Which scenarios `--only` and `--tag` choose. */
function chooserOf({ only, tag }: EvalChoice): (scenario: Suite['scenarios'][number]) => boolean {
  return ({ name, tags }) =>
    (only === undefined || only.some((part) => name.toLowerCase().includes(part.toLowerCase()))) &&
    (tag === undefined || tags.some((each) => tag.includes(each)));
}

/** The files that the arguments name. @throws UsageError */
function pathsOf(names: readonly string[], { config, bots }: Configuration): readonly string[] {
  const folder = join(dirname(config.settings.bots.folder), 'evals');
  if (names.length === 0) {
    if (!isFolder(folder)) throw new UsageError(`there is no folder ${folder}: put a suite into it, or name one (docs/evals.md)`);
    const files = suiteFiles(folder);
    if (files.length === 0) throw new UsageError(`${folder} holds no suite, which is a *.yaml file (docs/evals.md)`);
    return files;
  }
  return names.flatMap((name) => {
    if (isFolder(name)) return suiteFiles(name);
    if (existsSync(name)) return [name];
    const ofBot = join(folder, `${name}.yaml`);
    if (existsSync(ofBot)) return [ofBot];
    const isBot = bots.some((bot) => bot.name === name);
    throw new UsageError(
      isBot ? `the bot ${name} has no suite: ${ofBot} is missing` : `there is no file, folder or bot "${name}"`,
    );
  });
}

/** The first Ctrl-C ends the run after the calls that go on; the results so far are printed. */
class StopSignal implements Disposable {
  readonly #stopped = new AbortController();
  readonly #stop = (): void => this.#stopped.abort();

  constructor() {
    process.once('SIGINT', this.#stop);
  }

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#stop);
  }
}
