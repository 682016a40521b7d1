import { systemClock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';

export const FINDINGS = ['passed', 'warned', 'failed', 'skipped'] as const;

/** What a check found. `got`: what the server did, for all but `passed`. */
export type Finding = { readonly is: 'passed' } | { readonly is: 'warned' | 'failed' | 'skipped'; readonly got: string };

/** One rule for a bot author's server, and how it is tried. */
export interface Check {
  readonly name: string;
  readonly rule: string;
  /** A rejection counts as failed, with the error's text. */
  readonly run: () => Promise<Finding>;
}

export type Checked = Pick<Check, 'name' | 'rule'> & Finding & { readonly tookMs: number };

export const PASSED: Finding = { is: 'passed' };

export function failed(got: string): Finding {
  return { is: 'failed', got };
}

/** Runs checks one after the other. Never rejects. */
export async function runChecks(checks: readonly Check[], onChecked: (checked: Checked) => void): Promise<readonly Checked[]> {
  const results: Checked[] = [];
  for (const { name, rule, run } of checks) {
    const startedMs = systemClock.nowMs();
    const finding = await run().catch((error: unknown) => failed(errorTextWithCause(error)));
    const checked = { name, rule, ...finding, tookMs: Math.round(systemClock.nowMs() - startedMs) };
    results.push(checked);
    onChecked(checked);
  }
  return results;
}

/** The first finding that is not `passed`; `passed` where there is none. */
export async function allPass(findings: readonly (() => Promise<Finding>)[]): Promise<Finding> {
  let worst = PASSED;
  for (const find of findings) {
    const finding = await find();
    if (finding.is === 'failed') return finding;
    if (worst.is === 'passed') worst = finding;
  }
  return worst;
}
