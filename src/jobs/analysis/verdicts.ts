import { type Findings, type Ground, judge } from './conditions.ts';
import type { AnalysisProfile } from './profile.ts';

export interface ItemResult {
  readonly id: string;
  readonly question: string;
  readonly weight: number;
  readonly result: 'pass' | 'fail' | 'not-applicable';
  readonly grounds: readonly Ground[];
}

export interface Quality {
  /** 0 to 100: the weight of what passed among what applies; null when nothing applies. */
  readonly score: number | null;
  readonly items: readonly ItemResult[];
}

export interface Disposition {
  readonly value: string;
  readonly label?: string | undefined;
  /** Empty where no outcome's condition held. */
  readonly grounds: readonly Ground[];
}

/** The checklist, item by item, each with what its verdict rests on. */
export function scored(checklist: AnalysisProfile['checklist'], findings: Findings): Quality {
  const items = checklist.map(({ id, question, weight, applies, pass }): ItemResult => {
    const applicable = applies === undefined || judge(applies, findings).holds;
    if (!applicable) return { id, question, weight, result: 'not-applicable', grounds: [] };
    const { holds, grounds } = judge(pass, findings);
    return { id, question, weight, result: holds ? 'pass' : 'fail', grounds };
  });
  const weightOf = (...results: readonly ItemResult['result'][]): number =>
    items.filter(({ result }) => results.includes(result)).reduce((sum, { weight }) => sum + weight, 0);
  const applicable = weightOf('pass', 'fail');
  return { score: applicable === 0 ? null : Math.round((1000 * weightOf('pass')) / applicable) / 10, items };
}

/** The first outcome whose condition holds; undefined where the profile has none. */
export function disposed(disposition: AnalysisProfile['disposition'], findings: Findings): Disposition | undefined {
  if (disposition === undefined) return undefined;
  for (const { value, label, when } of disposition.outcomes) {
    const { holds, grounds } = judge(when, findings);
    if (holds) return { value, ...(label === undefined ? {} : { label }), grounds };
  }
  return { value: disposition.otherwise, grounds: [] };
}
