import { type Findings, type Ground, judge } from './conditions.ts';
import type { AnalysisProfile } from './profile.ts';

export interface ItemResult {
  readonly id: string;
  readonly question: string;
  readonly weight: number;
  readonly result: 'pass' | 'fail' | 'not-applicable' | 'unknown';
  /** Why it is unknown. */
  readonly reason?: string | undefined;
  readonly grounds: readonly Ground[];
}

export interface Quality {
  /** 0 to 100: the weight of what passed among what was decided; null when nothing was, or less than half of what applies. */
  readonly score: number | null;
  /** Why there is no score although something applies. */
  readonly unknown?: string | undefined;
  readonly items: readonly ItemResult[];
}

export interface Disposition {
  /** Null where it could not be decided, for this `reason`. */
  readonly value: string | null;
  readonly reason?: string | undefined;
  readonly label?: string | undefined;
  /** Empty where no outcome's condition held. */
  readonly grounds: readonly Ground[];
}

/** The checklist, item by item, each with what its verdict rests on. */
export function scored(checklist: AnalysisProfile['checklist'], findings: Findings): Quality {
  const items = checklist.map(({ id, question, weight, applies, pass }): ItemResult => {
    const applicable = applies === undefined ? undefined : judge(applies, findings);
    if (applicable?.holds === false) return { id, question, weight, result: 'not-applicable', grounds: [] };
    const { holds, grounds, reason } =
      applicable !== undefined && applicable.holds === undefined ? applicable : judge(pass, findings);
    if (holds === undefined) return { id, question, weight, result: 'unknown', reason, grounds };
    return { id, question, weight, result: holds ? 'pass' : 'fail', grounds };
  });
  const weightOf = (...results: readonly ItemResult['result'][]): number =>
    items.filter(({ result }) => results.includes(result)).reduce((sum, { weight }) => sum + weight, 0);
  const decided = weightOf('pass', 'fail');
  const open = weightOf('unknown');
  if (open > decided) {
    const reason = items.find(({ result }) => result === 'unknown')?.reason ?? 'nothing is known';
    return { score: null, unknown: `less than half of the checklist could be decided: ${reason}`, items };
  }
  return { score: decided === 0 ? null : Math.round((1000 * weightOf('pass')) / decided) / 10, items };
}

/** The first outcome whose condition holds; null where none does and it is not known of all; undefined where the profile has none. */
export function disposed(disposition: AnalysisProfile['disposition'], findings: Findings): Disposition | undefined {
  if (disposition === undefined) return undefined;
  let open: string | undefined;
  for (const { value, label, when } of disposition.outcomes) {
    const { holds, grounds, reason } = judge(when, findings);
    if (holds === true) return { value, ...(label === undefined ? {} : { label }), grounds };
    if (holds === undefined) open ??= `whether it was "${value}" is not known: ${reason ?? 'nothing says so'}`;
  }
  if (open !== undefined) return { value: null, reason: open, grounds: [] };
  return { value: disposition.otherwise, grounds: [] };
}
