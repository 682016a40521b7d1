import type { Clock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';

export interface CheckOutcome {
  readonly ok: boolean;
  /** What was found, in a few words. */
  readonly detail: string;
  /** What to do when it is not well. */
  readonly advice?: string | undefined;
}

export interface Check {
  readonly name: string;
  /** What to do when it throws. */
  readonly advice: string;
  /** A throw is a failed check, its message the detail. */
  run(signal: AbortSignal): Promise<CheckOutcome> | CheckOutcome;
}

export interface CheckResult extends CheckOutcome {
  readonly name: string;
  readonly ms: number;
}

/** Longest time of one check: as much as a slow answer of the platform may take. */
const TIMEOUT_MS = 130_000;

/** Runs one check; never rejects. */
export async function runCheck(check: Check, clock: Clock, outer: AbortSignal): Promise<CheckResult> {
  const startedMs = clock.nowMs();
  const limit = new AbortController();
  const timer = clock.after(TIMEOUT_MS, () => limit.abort(new Error(`no result within ${TIMEOUT_MS / 1000} s`)));
  const result = (outcome: CheckOutcome): CheckResult => ({
    name: check.name,
    ...outcome,
    ms: Math.round(clock.nowMs() - startedMs),
  });
  try {
    const outcome = await check.run(AbortSignal.any([outer, limit.signal]));
    return result(outcome.ok ? outcome : { ...outcome, advice: outcome.advice ?? check.advice });
  } catch (error) {
    return result({ ok: false, detail: errorTextWithCause(error), advice: check.advice });
  } finally {
    timer.cancel();
  }
}
