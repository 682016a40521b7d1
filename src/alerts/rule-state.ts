import type { AlertRule } from '../config/alerts.ts';

/** What a rule found. */
export interface AlertReading {
  /** Undefined where nothing is known: too few calls, or no answer. */
  readonly value: number | undefined;
  /** For people, such as the problems that were counted. */
  readonly details: readonly string[];
}

/** Where a rule stands. Times are wall times. */
export interface RuleState {
  /** Set while the value is beyond the threshold. */
  readonly sinceMs?: number | undefined;
  /** Whether a notice says so: not within the cool-down of an earlier one. */
  readonly told: boolean;
  /** When the last notice that it fires was made. */
  readonly toldAtMs?: number | undefined;
}

export const QUIET: RuleState = { told: false };

/**
 * The next state of a rule, and what is told. An unknown value changes nothing: a silent night does not end an alert. Within the cool-down of a
 * notice a rule that fires again is told when the cool-down ends, if it still fires then.
 */
export function stepRule(
  state: RuleState,
  rule: Pick<AlertRule, 'above' | 'below' | 'coolDownMinutes' | 'resolved'>,
  { value }: AlertReading,
  nowMs: number,
): { readonly state: RuleState; readonly notice?: 'firing' | 'resolved' } {
  if (value === undefined) return { state };
  const { toldAtMs } = state;
  if (!isBeyond(rule, value)) {
    if (state.sinceMs === undefined) return { state };
    const quiet = { told: false, toldAtMs };
    return state.told && rule.resolved ? { state: quiet, notice: 'resolved' } : { state: quiet };
  }
  const sinceMs = state.sinceMs ?? nowMs;
  if (state.told) return { state: { ...state, sinceMs } };
  const isCooling = toldAtMs !== undefined && nowMs < toldAtMs + rule.coolDownMinutes * 60_000;
  if (isCooling) return { state: { told: false, toldAtMs, sinceMs } };
  return { state: { told: true, toldAtMs: nowMs, sinceMs }, notice: 'firing' };
}

export function isBeyond({ above, below }: Pick<AlertRule, 'above' | 'below'>, value: number): boolean {
  return (above !== undefined && value > above) || (below !== undefined && value < below);
}
