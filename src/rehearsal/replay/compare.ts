import type { Decision } from './decision.ts';
import type { CallFixture } from './fixture.ts';
import type { TurnMeasure } from './measures.ts';
import type { ReplayedCall } from './replay-call.ts';
import type { StandIn } from './stand-ins.ts';

/** Where the code of today first decided otherwise. */
export interface Divergence {
  /** Since the call's first moment. */
  readonly atMs: number;
  readonly turn: number;
  /** Undefined where one of the two decided nothing more. */
  readonly was: Decision | undefined;
  readonly is: Decision | undefined;
  /** How many decisions before it were the same. */
  readonly after: number;
}

export interface TurnComparison {
  readonly turn: number;
  /**
   * `counterfactual`: what came into this turn is what came into a call that went another way; its measures say something,
   * one by one, and what was said in it says nothing.
   */
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
  /** Length of the call that was kept. */
  readonly callMs: number;
}

/** Compares what was decided then with what is decided now. */
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
