import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';
import { loadBots } from '../config/bot-files.ts';
import type { Bot } from '../config/bots.ts';
import { readEnvironment } from '../config/env.ts';
import { problemText } from '../config/problem.ts';
import { costOf } from '../costs/cost.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorTextWithCause } from '../kernel/errors.ts';
import { yieldToCalls } from '../kernel/process-tuning.ts';
import { countedAs } from '../outbound/attempt-steps.ts';
import { EvalRuns } from '../rehearsal/evals/eval-runs.ts';
import { type EvalOptions, runSuites, type ScenarioResult } from '../rehearsal/evals/run-suites.ts';
import { type RunFacts, savedRunOf } from '../rehearsal/evals/saved-run.ts';
import { isFolder, readSuites, type Suite, suiteFiles } from '../rehearsal/evals/suite-file.ts';
import { readFixture } from '../rehearsal/replay/fixture-file.ts';
import { type BotEvalNews, type BotEvalTask, MOST_EVAL_CALLS } from './bot-evals.ts';

const SEED = 1;
/** Longest real time of one answer of a bot. */
const ANSWER_MS = 30_000;
const stop = new AbortController();

yieldToCalls();
parentPort?.on('message', () => stop.abort());
tell(
  await evaluate(workerData as BotEvalTask).catch((error: unknown) => ({ type: 'failed', problem: errorTextWithCause(error) })),
);

/** Calls the draft, then the published version with the same seeds, and keeps the results as a run of evals. */
async function evaluate(task: BotEvalTask): Promise<BotEvalNews> {
  const { bot: name, folder, draft, runs, settings, dataDir } = task;
  const { bots } = loadBots(folder, readEnvironment(), draft);
  const { suites, problem } = await suitesOf(name, folder, bots);
  if (problem !== undefined) return { type: 'failed', problem };
  const scenarios = suites.reduce((sum, each) => sum + each.scenarios.length * (runs ?? each.runs), 0);
  const of = draft === undefined ? scenarios : 2 * scenarios;
  if (of > MOST_EVAL_CALLS) return { type: 'failed', problem: `These are ${of} calls, and at most ${MOST_EVAL_CALLS} are made.` };
  let calls = 0;
  tell({ type: 'calls', calls, of });
  const run = (versions: readonly Bot[]): Promise<readonly ScenarioResult[]> =>
    runSuites(suites, {
      ...optionsOf(task),
      gateway: { settings: { ...settings, bots: { ...settings.bots, folder } }, bots: versions },
      onCall: () => tell({ type: 'calls', calls: (calls += 1), of }),
    });
  const startedAtMs = systemClock.wallMs();
  const kept = new EvalRuns(dataDir);
  const results = await run(bots);
  const published = draft === undefined ? undefined : loadBots(folder, readEnvironment()).bots;
  const before = published === undefined ? undefined : await run(published);
  const started = await kept.begin({ seed: SEED, asked: 'console' }, startedAtMs);
  const factsWith = (versions: readonly Bot[]): RunFacts => ({
    id: started.id,
    startedAtMs,
    endedAtMs: systemClock.wallMs(),
    depth: 'text',
    seed: SEED,
    stopped: stop.signal.aborted,
    botFacts: (called) => {
      const bot = versions.find((each) => each.name === called);
      return { tenant: bot?.tenant ?? '', version: bot?.version ?? '' };
    },
    before: [],
    soundOf: () => undefined,
  });
  const saved = savedRunOf(results, {
    ...factsWith(bots),
    ...(before === undefined || published === undefined
      ? { before: await kept.before('text', started.id) }
      : { draft: true, before: [savedRunOf(before, factsWith(published))] }),
  });
  await started.finish(saved);
  return { type: 'done', run: started.id, stopped: saved.stopped };
}

/** The suites in `evals` beside the folder of bots that call this bot. */
async function suitesOf(
  name: string,
  folder: string,
  bots: readonly Bot[],
): Promise<{ readonly suites: readonly Suite[]; readonly problem?: string }> {
  const evals = join(dirname(folder), 'evals');
  const paths = (isFolder(evals) ? suiteFiles(evals) : []).filter((path) => calledIn(path) === name);
  if (paths.length === 0)
    return { suites: [], problem: `No suite calls this bot: put one into evals/${name}.yaml beside the bots.` };
  const { suites, problems } = await readSuites(paths, bots);
  if (problems.length === 0) return { suites };
  return {
    suites,
    problem: problems
      .slice(0, 10)
      .map(problemText)
      .join('\n')
      .replaceAll(`${dirname(folder)}/`, ''),
  };
}

/** The bot that a suite calls: the one it names, or the one it is named after. */
function calledIn(path: string): string {
  const named = basename(path).replace(/\.ya?ml$/u, '');
  try {
    const written: unknown = parse(readFileSync(path, 'utf8'));
    const bot = typeof written === 'object' && written !== null && 'bot' in written ? written.bot : undefined;
    return typeof bot === 'string' ? bot : named;
  } catch {
    // Reading it again says what is wrong.
    return named;
  }
}

function optionsOf({ runs, prices }: BotEvalTask): Omit<EvalOptions, 'gateway' | 'onCall'> {
  return {
    runs,
    seed: SEED,
    share: undefined,
    jobs: 1,
    deadlineMs: ANSWER_MS,
    env: readEnvironment(),
    dispositionOf: (record) => countedAs(record, record.callBackAtWallMs),
    costOf: ({ usage }) => {
      const { currency, total } = costOf(usage, prices);
      return total === 'unknown' ? undefined : { currency, total };
    },
    // The keys of sealed calls stay with the gateway's own thread.
    fixture: (path) => readFixture(path, systemClock.wallMs()),
    signal: stop.signal,
  };
}

function tell(news: BotEvalNews): void {
  parentPort?.postMessage(news, []);
}
