import { z } from 'zod';
import type { LocatedUnmet } from './checks.ts';
import type { Evidence } from './evidence.ts';
import { type RunResult, type ScenarioResult, shareInterval, VERDICTS, verdictOf } from './run-suites.ts';

// What is kept of a run of evals for the console, the API and the next run.

const verdict = z.enum(VERDICTS);

/** How the scenarios of one suite went. */
const savedSuite = z.object({
  bot: z.string(),
  tenant: z.string(),
  /** Changes with the bot's files. */
  version: z.string(),
  path: z.string(),
  verdicts: z.record(verdict, z.int()),
  /** Scenarios that passed in the run before and do not now, and the other way round. */
  broken: z.int(),
  mended: z.int(),
});

export const savedSummary = z.object({
  id: z.string(),
  startedAtMs: z.number(),
  /** Absent while it goes on, and where its process ended before. */
  endedAtMs: z.number().optional(),
  depth: z.string(),
  seed: z.number(),
  /** Stopped before all calls were made. */
  stopped: z.boolean(),
  /** Calls of a draft: what was before is the published version, called in the same run. */
  draft: z.boolean().optional(),
  suites: z.array(savedSuite),
});
export type SavedSummary = z.output<typeof savedSummary>;

const savedLine = z.object({
  who: z.enum(['bot', 'caller']),
  turn: z.int(),
  text: z.string(),
  meant: z.string().optional(),
  /** The line shows what was not met. */
  shown: z.boolean(),
});

const savedCall = z.object({
  seed: z.number(),
  ok: z.boolean(),
  end: z.string(),
  unmet: z.array(z.object({ where: z.string(), expected: z.string(), got: z.string() })),
  lines: z.array(savedLine),
  variables: z.record(z.string(), z.string()),
  /** Name of its WAV file in the run's folder. */
  sound: z.string().optional(),
});

const savedScenario = z.object({
  bot: z.string(),
  tenant: z.string(),
  name: z.string(),
  about: z.string().optional(),
  where: z.string(),
  verdict,
  /** In the run before, where it was in that. */
  before: verdict.optional(),
  /** Its calls in the run before. */
  callsBefore: z.object({ passed: z.int(), runs: z.int() }).optional(),
  passed: z.int(),
  runs: z.int(),
  interval: z.object({ least: z.number(), most: z.number() }),
  replyP95Ms: z.number().optional(),
  /** Failed calls, at most `MOST_CALLS`. */
  calls: z.array(savedCall),
});
export type SavedScenario = z.output<typeof savedScenario>;

export const savedRun = savedSummary.extend({ scenarios: z.array(savedScenario) });
export type SavedRun = z.output<typeof savedRun>;

/** Failed calls of a scenario that are kept with their transcripts. */
const MOST_CALLS = 3;

export interface RunFacts extends Pick<SavedRun, 'id' | 'startedAtMs' | 'endedAtMs' | 'depth' | 'seed' | 'stopped' | 'draft'> {
  readonly botFacts: (bot: string) => { readonly tenant: string; readonly version: string };
  /** The latest runs of the same depth, newest first. */
  readonly before: readonly SavedRun[];
  /** Name of the sound file of a call, where it is in the run's folder. */
  readonly soundOf: (call: Evidence) => string | undefined;
}

/** What is kept of the results of a run. */
export function savedRunOf(results: readonly ScenarioResult[], { botFacts, before, soundOf, ...facts }: RunFacts): SavedRun {
  const scenarios = results.map((result): SavedScenario => {
    const { suite, scenario, where, runs } = result;
    const passed = runs.filter(({ ok }) => ok).length;
    const earlier = before.flatMap((run) => run.scenarios.filter(({ bot, name }) => bot === suite.bot && name === scenario.name));
    const replies = runs.flatMap(({ call }) => call.times.replyP95Ms ?? []);
    return {
      bot: suite.bot,
      tenant: botFacts(suite.bot).tenant,
      name: scenario.name,
      ...(scenario.about === undefined ? {} : { about: scenario.about }),
      where,
      verdict: verdictOf(result),
      ...(earlier[0] === undefined ? {} : beforeOf(earlier[0])),
      passed,
      runs: runs.length,
      interval: shareInterval(passed, runs.length),
      ...(replies.length === 0 ? {} : { replyP95Ms: Math.max(...replies) }),
      calls: runs
        .filter(({ ok }) => !ok)
        .slice(0, MOST_CALLS)
        .map((run) => callOf(run, soundOf(run.call))),
    };
  });
  const suites = [...new Set(results.map(({ suite }) => suite))].map(({ bot, path }) => {
    const own = scenarios.filter((each) => each.bot === bot);
    const count = (wanted: SavedScenario['verdict']): number => own.filter((each) => each.verdict === wanted).length;
    const verdicts = { passed: count('passed'), failed: count('failed'), flaky: count('flaky'), skipped: count('skipped') };
    return {
      bot,
      path,
      ...botFacts(bot),
      verdicts,
      broken: own.filter((each) => each.before === 'passed' && (each.verdict === 'failed' || each.verdict === 'flaky')).length,
      mended: own.filter((each) => each.verdict === 'passed' && (each.before === 'failed' || each.before === 'flaky')).length,
    };
  });
  return { ...facts, suites, scenarios };
}

function beforeOf({ verdict: before, passed, runs }: SavedScenario): Pick<SavedScenario, 'before' | 'callsBefore'> {
  return { before, callsBefore: { passed, runs } };
}

function callOf({ seed, ok, unmet, call }: RunResult, sound: string | undefined): z.output<typeof savedCall> {
  const shown = new Set(unmet.map(({ line }) => line));
  return {
    seed,
    ok,
    end: call.end,
    unmet: unmet.map(({ where, expected, got }: LocatedUnmet) => ({ where, expected, got })),
    lines: call.lines.map((line) => {
      const { who, turn, text, meant } = line;
      return { who, turn, text, ...(meant === undefined ? {} : { meant }), shown: shown.has(line) };
    }),
    variables: { ...call.variables },
    ...(sound === undefined ? {} : { sound }),
  };
}
