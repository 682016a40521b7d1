import { ENDINGS } from '../../src/call/log/outcome.ts';
import type { Figures } from '../../src/records/statistics.ts';

/** Figures of no call. */
export const NO_FIGURES: Figures = {
  calls: 0,
  answered: 0,
  contained: 0,
  transferred: 0,
  givenUp: 0,
  optedOut: 0,
  cutOffCalls: 0,
  cutOffs: 0,
  notUnderstoodCalls: 0,
  notUnderstood: 0,
  durationS: 0,
  endings: Object.fromEntries(ENDINGS.map((ending) => [ending, 0])) as Figures['endings'],
  replies: undefined,
  costs: [],
};
