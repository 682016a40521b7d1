import type { ScenarioResult } from './run-suites.ts';

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
