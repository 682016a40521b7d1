import type { Decision } from './decision.ts';
import type { CallFixture, TurnMeasure } from './fixture.ts';
import type { ReplayedCall } from './replay-call.ts';
import type { StandIn } from './replayed-answer.ts';

/** The first decision in which today's code differs. */
interface Divergence {
  /** Since the call's start. */
  readonly atMs: number;
  readonly turn: number;
  /** Undefined where one side made no further decision. */
  readonly was: Decision | undefined;
  readonly is: Decision | undefined;
  /** Number of equal decisions before it. */
  readonly after: number;
}

export interface TurnComparison {
  readonly turn: number;
  /** `counterfactual`: the call had already diverged; this turn's measures are only meaningful by themselves, and its words are not. */
  readonly standing: 'equal' | 'diverges' | 'counterfactual';
  readonly was: TurnMeasure | undefined;
  readonly is: TurnMeasure | undefined;
}

export interface ReplayReport {
  readonly equal: boolean;
  readonly decisions: { readonly was: number; readonly is: number };
  readonly divergence: Divergence | undefined;
  readonly turns: readonly TurnComparison[];
  readonly standIns: readonly StandIn[];
  readonly digitsMasked: boolean;
  readonly truncatedAtMs: number | undefined;
  /** Length of the recorded call. */
  readonly callMs: number;
}

/** Compares recorded decisions with today's. */
export function compareCalls(fixture: CallFixture, replayed: ReplayedCall): ReplayReport {
  const divergence = firstDivergence(fixture.decisions, replayed.decisions);
  const { truncatedAtMs, digitsMasked } = fixture;
  return {
    equal: divergence === undefined,
    decisions: { was: fixture.decisions.length, is: replayed.decisions.length },
    divergence,
    turns: compareTurns(fixture.turns, replayed.turns, divergence),
    standIns: replayed.standIns,
    digitsMasked,
    truncatedAtMs: truncatedAtMs ?? undefined,
    callMs: fixture.log.at(-1)?.t ?? 0,
  };
}

function firstDivergence(then: readonly Decision[], now: readonly Decision[]): Divergence | undefined {
  const length = Math.max(then.length, now.length);
  for (let index = 0; index < length; index += 1) {
    const [was, is] = [then[index], now[index]];
    if (was !== undefined && is !== undefined && sameDecision(was, is)) continue;
    const atMs = Math.min(was?.atMs ?? Number.POSITIVE_INFINITY, is?.atMs ?? Number.POSITIVE_INFINITY);
    const turn = Math.min(was?.turn ?? Number.POSITIVE_INFINITY, is?.turn ?? Number.POSITIVE_INFINITY);
    return { atMs, turn, was, is, after: index };
  }
  return undefined;
}

function sameDecision(a: Decision, b: Decision): boolean {
  return a.atMs === b.atMs && a.turn === b.turn && a.type === b.type && a.detail === b.detail;
}

function compareTurns(
  then: readonly TurnMeasure[],
  now: readonly TurnMeasure[],
  divergence: Divergence | undefined,
): readonly TurnComparison[] {
  return Array.from({ length: Math.max(then.length, now.length) }, (_, turn) => {
    const standing =
      divergence === undefined || turn < divergence.turn ? 'equal' : turn === divergence.turn ? 'diverges' : 'counterfactual';
    return { turn, standing, was: then[turn], is: now[turn] };
  });
}
