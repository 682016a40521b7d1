import type { CallRecord } from '../../call/log/call-record.ts';
import type { Bot } from '../../config/bots.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import type { ChatGateway } from '../chat/open-chat.ts';
import type { CallFixture } from '../replay/fixture.ts';
import type { Environment } from '../../config/env.ts';
import { type LocatedUnmet, unmetIn } from './checks.ts';
import { EvalModel } from './eval-model.ts';
import { type Evidence, NOT_BEGUN, nothingOf } from './evidence.ts';
import { judge } from './judge.ts';
import { MockedWorld } from './mocked-world.ts';
import { PersonaCaller } from './persona-caller.ts';
import type { Caller } from './caller.ts';
import { ScriptedCaller } from './scripted-caller.ts';
import { RecordedCaller, recordedCall } from './recorded-caller.ts';
import { SeededRandom } from './seeded-random.ts';
import { recordedPath, type Suite } from './suite-file.ts';
import type { ScenarioDocument } from './suite-schema.ts';
import type { Rehearsal } from './rehearsal.ts';
import { rehearseInText } from './text-depth.ts';

/** What a run of suites is asked for. */
export interface EvalOptions {
  readonly gateway: ChatGateway;
  /** Scenarios that are run; all where absent. */
  readonly isChosen?: ((scenario: ScenarioDocument) => boolean) | undefined;
  /** How often each scenario is run; the suite's own number where absent. */
  readonly runs: number | undefined;
  /** Seed of the first run; each further run has the next one. */
  readonly seed: number;
  /** Share of the runs that must pass, in place of the suites' own. */
  readonly share: number | undefined;
  /** Calls at the same time. */
  readonly jobs: number;
  /** Longest real time of one answer of a bot, in ms. */
  readonly deadlineMs: number;
  /** Has the keys of models. */
  readonly env: Environment;
  /** Plays a call in another depth than text. */
  readonly rehearse?: ((rehearsal: Rehearsal) => Promise<Evidence>) | undefined;
  readonly dispositionOf: (record: CallRecord) => string | undefined;
  readonly costOf?: Rehearsal['costOf'];
  /** Reads the kept call at a path. */
  readonly fixture: (path: string) => Promise<CallFixture>;
  /** Ends the run; calls that were not made count as skipped. */
  readonly signal: AbortSignal;
  /** A call that was made before, by the same suite, bot and seed: it is not made again. */
  readonly made?: ((suite: Suite, scenario: ScenarioDocument, seed: number) => RunResult | undefined) | undefined;
  readonly onCall: (done: {
    readonly scenario: ScenarioResult;
    readonly result: RunResult;
    readonly calls: number;
    readonly of: number;
  }) => void;
}

/** One call of a scenario. */
export interface RunResult {
  /** Plays the same call again. */
  readonly seed: number;
  readonly ok: boolean;
  readonly unmet: readonly LocatedUnmet[];
  readonly call: Evidence;
  /** `file:line` of the caller's turns that were not taken. */
  readonly unusedTurns: readonly string[];
  /** Tokens of the persona's and the judge's model; 0 without one. */
  readonly tokens: number;
  /** Real time of the call, in ms. */
  readonly tookMs: number;
}

export const VERDICTS = ['passed', 'failed', 'flaky', 'skipped'] as const;
/** `flaky`: some runs passed, some failed, and too few passed. */
export type Verdict = (typeof VERDICTS)[number];

/** All calls of a scenario. */
export interface ScenarioResult {
  readonly suite: Suite;
  readonly scenario: ScenarioDocument;
  /** Its place in the suite. */
  readonly index: number;
  /** `file:line`. */
  readonly where: string;
  /** Share of the runs that must pass. */
  readonly share: number;
  readonly planned: number;
  readonly runs: RunResult[];
}

/**
 * Runs every scenario of the suites as often as asked. Never rejects for what a bot does.
 * @returns in the order of the suites
 * @throws EvalModelError without the key of a model that a scenario needs
 */
export async function runSuites(suites: readonly Suite[], options: EvalOptions): Promise<readonly ScenarioResult[]> {
  const results = suites.flatMap((suite) => {
    const runs = options.runs ?? suite.runs;
    return suite.scenarios.flatMap((scenario, index): ScenarioResult[] => {
      if (options.isChosen?.(scenario) === false) return [];
      const where = suite.whereOf(['scenarios', index, 'name']);
      const share = options.share ?? scenario.share ?? suite.share;
      return [{ suite, scenario, index, where, share, planned: runs, runs: [] }];
    });
  });
  // A missing key is said before any call is made.
  for (const result of results) modelOf(result, options.seed, options);
  const calls = results.flatMap((result) => Array.from({ length: result.planned }, (_, run) => ({ result, run })));
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let call = calls[next]; call !== undefined && !options.signal.aborted; call = calls[next]) {
      next += 1;
      const { result, run } = call;
      const seed = options.seed + run;
      const made = options.made?.(result.suite, result.scenario, seed) ?? (await runOnce(result, seed, options));
      result.runs.push(made);
      done += 1;
      options.onCall({ scenario: result, result: made, calls: done, of: calls.length });
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.jobs) }, work));
  for (const { runs } of results) runs.sort((left, right) => left.seed - right.seed);
  return results;
}

async function runOnce(result: ScenarioResult, seed: number, options: EvalOptions): Promise<RunResult> {
  const { suite, scenario, index } = result;
  const { gateway, deadlineMs, dispositionOf, costOf, rehearse = rehearseInText } = options;
  const bot = gateway.bots.find(({ name }: Bot) => name === suite.bot);
  if (bot === undefined) throw new RangeError(`the bot ${suite.bot} of ${suite.path} is not loaded`);
  const startedMs = systemClock.nowMs();
  const model = modelOf(result, seed, options);
  const caller = await callerOf(suite, scenario, { bot, seed, model, fixture: options.fixture }).catch(absentCaller);
  const mocks =
    scenario.mocks === undefined && suite.mocks === undefined ? undefined : [...(scenario.mocks ?? []), ...(suite.mocks ?? [])];
  const world = new MockedWorld(mocks);
  const call =
    'problem' in caller
      ? nothingOf(bot, caller.problem)
      : await rehearse({ gateway, bot, suite, scenario, seed, caller, world, deadlineMs, dispositionOf, costOf });
  const sentences = scenario.expect.judge;
  const isJudged = sentences !== undefined && model !== undefined && call.end !== NOT_BEGUN;
  const missed = [...unmetIn(scenario.expect, call), ...(isJudged ? await judge(sentences, call, model) : [])];
  const unmet = missed.map((each): LocatedUnmet => {
    const keys = each.keys.length === 0 ? ['name'] : ['expect', ...each.keys];
    return { ...each, where: suite.whereOf(['scenarios', index, ...keys]) };
  });
  return {
    seed,
    ok: unmet.length === 0,
    unmet,
    call,
    unusedTurns: caller.unused.map((turn) => suite.whereOf(['scenarios', index, 'caller', 'turns', turn])),
    tokens: model?.tokens ?? 0,
    tookMs: Math.round(systemClock.nowMs() - startedMs),
  };
}

/** The model that plays the caller or judges the call; undefined where a scenario needs none. */
function modelOf(
  { suite, scenario: { caller, expect } }: ScenarioResult,
  seed: number,
  { env }: EvalOptions,
): EvalModel | undefined {
  if (suite.model === undefined || (caller.persona === undefined && expect.judge === undefined)) return undefined;
  return new EvalModel(suite.model, env, seed);
}

/** @throws what reading a kept call throws: it has expired, was erased, or is none */
async function callerOf(
  suite: Suite,
  { name: scenario, caller, call }: ScenarioDocument,
  {
    bot,
    seed,
    model,
    fixture,
  }: Pick<EvalOptions, 'fixture'> & { readonly bot: Bot; readonly seed: number; readonly model: EvalModel | undefined },
): Promise<Caller> {
  const { persona, recorded } = caller;
  if (recorded !== undefined) return new RecordedCaller(recordedCall(await fixture(recordedPath(suite, recorded))));
  if (persona !== undefined && model !== undefined)
    return new PersonaCaller(persona, caller, call.language ?? bot.language, model);
  return new ScriptedCaller(caller, new SeededRandom(seed, `${suite.bot}/${scenario}`));
}

function absentCaller(error: unknown): Pick<Caller, 'unused'> & { readonly problem: string } {
  return { unused: [], problem: `the kept call cannot be played: ${errorTextWithCause(error)}` };
}

/** What the runs of a scenario say of it. */
export function verdictOf({ runs, planned, share }: ScenarioResult): Verdict {
  const passed = runs.filter(({ ok }) => ok).length;
  if (runs.length < planned) return runs.length === passed ? 'skipped' : 'failed';
  if (passed / runs.length >= share) return 'passed';
  return passed === 0 ? 'failed' : 'flaky';
}

/** 95 of 100 times, the true share of passing calls lies between these: Wilson's interval. */
export function shareInterval(passed: number, runs: number): { readonly least: number; readonly most: number } {
  if (runs === 0) return { least: 0, most: 1 };
  const z = 1.96;
  const share = passed / runs;
  const centre = share + z ** 2 / (2 * runs);
  const spread = z * Math.sqrt((share * (1 - share)) / runs + z ** 2 / (4 * runs ** 2));
  const scale = 1 + z ** 2 / runs;
  return { least: Math.max(0, (centre - spread) / scale), most: Math.min(1, (centre + spread) / scale) };
}

/** A scenario with two versions of its bot, over the same seeds. */
export interface ComparedScenario {
  readonly bot: string;
  readonly name: string;
  readonly change: 'better' | 'worse' | 'same';
  readonly before: { readonly passed: number; readonly runs: number };
  readonly now: { readonly passed: number; readonly runs: number };
}

/** Compares the runs of two versions, scenario by scenario. @param before of the same suites, in the same order */
export function compareRuns(before: readonly ScenarioResult[], now: readonly ScenarioResult[]): readonly ComparedScenario[] {
  return now.flatMap((result, index): ComparedScenario[] => {
    const earlier = before[index];
    if (earlier === undefined) return [];
    const counts = { before: countOf(earlier), now: countOf(result) };
    const difference = shareOf(counts.now) - shareOf(counts.before);
    const change = difference === 0 ? 'same' : difference > 0 ? 'better' : 'worse';
    return [{ bot: result.suite.bot, name: result.scenario.name, change, ...counts }];
  });
}

function countOf({ runs }: ScenarioResult): { passed: number; runs: number } {
  return { passed: runs.filter(({ ok }) => ok).length, runs: runs.length };
}

function shareOf({ passed, runs }: { readonly passed: number; readonly runs: number }): number {
  return runs === 0 ? 0 : passed / runs;
}
