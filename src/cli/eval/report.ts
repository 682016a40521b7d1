import { relative } from 'node:path';
import { unmetText } from '../../rehearsal/evals/checks.ts';
import { lineText, transcriptOf } from '../../rehearsal/evals/evidence.ts';
import {
  type ComparedScenario,
  type RunResult,
  type ScenarioResult,
  shareInterval,
  type Verdict,
  VERDICTS,
  verdictOf,
} from '../../rehearsal/evals/run-suites.ts';
import { coloured, printLine } from '../shell/output.ts';

/** What `offhook eval --json` prints. */
export interface EvalReport {
  readonly ok: boolean;
  readonly seed: number;
  readonly tookMs: number;
  readonly depth: 'text' | 'sound';
  /** Stopped before all calls were made. */
  readonly stopped: boolean;
  readonly scenarios: number;
  readonly calls: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  readonly results: readonly ScenarioReport[];
  /** What changed since another version; undefined without one. */
  readonly against: { readonly version: string; readonly changes: readonly ComparedScenario[] } | undefined;
}

interface ScenarioReport {
  readonly suite: string;
  readonly bot: string;
  readonly name: string;
  readonly where: string;
  readonly verdict: Verdict;
  readonly passed: number;
  readonly runs: number;
  /** The share of passing calls, 95 of 100 times. */
  readonly interval: { readonly least: number; readonly most: number };
  readonly calls: readonly RunResult[];
}

export function reportOf(
  results: readonly ScenarioResult[],
  facts: Pick<EvalReport, 'seed' | 'tookMs' | 'depth' | 'stopped' | 'against'>,
): EvalReport {
  const scenarios = results.map((result): ScenarioReport => {
    const { suite, scenario, where, runs } = result;
    const passed = runs.filter(({ ok }) => ok).length;
    const interval = shareInterval(passed, runs.length);
    const verdict = verdictOf(result);
    return {
      suite: suite.path,
      bot: suite.bot,
      name: scenario.name,
      where,
      verdict,
      passed,
      runs: runs.length,
      interval,
      calls: runs,
    };
  });
  const count = (verdict: Verdict): number => scenarios.filter((each) => each.verdict === verdict).length;
  const verdicts = { passed: count('passed'), failed: count('failed'), flaky: count('flaky'), skipped: count('skipped') };
  return {
    ok: verdicts.passed === scenarios.length,
    ...facts,
    scenarios: scenarios.length,
    calls: results.reduce((sum, { runs }) => sum + runs.length, 0),
    verdicts,
    results: scenarios,
  };
}

/** A call that goes wrong early misses most of what is expected. */
const MOST_SHOWN = 5;
const STYLES = { passed: 'green', failed: 'red', flaky: 'yellow', skipped: 'dim' } as const;
const SHOWN = { passed: 'ok', failed: 'FAILED', flaky: 'FLAKY', skipped: 'skipped' } as const;

/** Prints the results for people: each scenario in a line, and the first failed call of it in full. */
export function printResults(results: readonly ScenarioResult[], report: EvalReport): void {
  let path: string | undefined;
  for (const result of results) {
    if (result.suite.path !== path) {
      path = result.suite.path;
      printLine(coloured('bold', `${result.suite.bot}  ${shownPath(path)}`));
    }
    printScenario(result, report.depth === 'sound' ? ' --depth sound' : '');
  }
  const { verdicts, scenarios, calls, tookMs, seed } = report;
  const counts = VERDICTS.filter((verdict) => verdict === 'passed' || verdict === 'failed' || verdicts[verdict] > 0);
  const text = counts.map((verdict) => `${verdicts[verdict]} ${verdict}`).join(', ');
  printLine(
    `${scenarios} ${scenarios === 1 ? 'scenario' : 'scenarios'}: ${text}; ${calls} calls in ${(tookMs / 1000).toFixed(1)} s, seed ${seed}`,
  );
  if (report.against !== undefined) printChanges(report.against);
}

function printChanges({ version, changes }: NonNullable<EvalReport['against']>): void {
  const of = (change: ComparedScenario['change']): readonly ComparedScenario[] =>
    changes.filter((each) => each.change === change);
  printLine(`against ${version}: ${of('worse').length} worse, ${of('better').length} better, ${of('same').length} the same`);
  for (const { bot, name, change, before, now } of [...of('worse'), ...of('better')]) {
    const counts = `${before.passed} of ${before.runs} → ${now.passed} of ${now.runs}`;
    printLine(`  ${coloured(change === 'worse' ? 'red' : 'green', change.padEnd(8))}${bot}: ${name}  ${coloured('dim', counts)}`);
  }
}

/** @param depth option of the command that plays a failed call again */
function printScenario(result: ScenarioResult, depth: string): void {
  const { scenario, runs, planned } = result;
  const verdict = verdictOf(result);
  const passed = runs.filter(({ ok }) => ok).length;
  printLine(`  ${coloured(STYLES[verdict], SHOWN[verdict].padEnd(8))}${scenario.name}${runsText(passed, runs.length, planned)}`);
  // A turn that no call takes has a condition that cannot be met, or stands behind others that always are.
  const [first] = runs;
  const unused = first?.unusedTurns.filter((turn) => runs.every(({ unusedTurns }) => unusedTurns.includes(turn))) ?? [];
  for (const turn of unused) printLine(coloured('yellow', `    ${shownPath(turn)}: no call took this turn of the caller`));
  const failed = runs.find(({ ok }) => !ok);
  if (verdict === 'passed' || failed === undefined) return;
  for (const unmet of failed.unmet.slice(0, MOST_SHOWN))
    for (const line of unmetText({ ...unmet, where: shownPath(unmet.where) })) printLine(`    ${line}`);
  const more = failed.unmet.length - MOST_SHOWN;
  if (more > 0) printLine(coloured('dim', `    and ${more} more: --json has them all`));
  printLine();
  const shown = new Set(failed.unmet.flatMap(({ line }) => (line === undefined ? [] : [lineText(line)])));
  for (const line of transcriptOf(failed.call))
    printLine(`      ${shown.has(line) ? coloured('red', line) : coloured('dim', line)}`);
  for (const warning of failed.call.warnings) printLine(coloured('yellow', `      warning: ${warning}`));
  printLine(
    `    again: npx offhook eval ${shownPath(result.suite.path)} --only ${JSON.stringify(scenario.name)} --runs 1 --seed ${failed.seed}${depth}\n`,
  );
}

function runsText(passed: number, runs: number, planned: number): string {
  if (planned === 1) return '';
  const { least, most } = shareInterval(passed, runs);
  const interval = runs === 0 ? '' : `, ${Math.round(least * 100)}–${Math.round(most * 100)} %`;
  return coloured('dim', `  ${passed} of ${runs} calls${interval}${runs < planned ? ` (${planned - runs} not made)` : ''}`);
}

/** A path as it is typed in this folder. */
function shownPath(path: string): string {
  const own = relative(process.cwd(), path);
  return own.startsWith('..') ? path : own;
}
