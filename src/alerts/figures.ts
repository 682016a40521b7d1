import type { AlertRule } from '../config/alerts.ts';
import { spendDayOf } from '../costs/spend.ts';
import type { Figures, StatisticsRepository } from '../records/statistics.ts';
import type { AlertReading } from './rule-state.ts';

/** Something that is wrong now, as the system page shows it. */
export interface NamedProblem {
  readonly severity: 'warning' | 'error';
  readonly what: string;
}

export interface FigureSources {
  readonly statistics: Pick<StatisticsRepository, 'figures' | 'interruptions' | 'spentSince'>;
  readonly problems: () => Promise<readonly NamedProblem[]>;
  readonly tenants: () => readonly string[];
}

const MINUTE_MS = 60_000;
const MICROS = 1_000_000;
/** With fewer calls a share or a percentile says little. */
const LEAST_CALLS = 10;

/** The value of a rule's figure now. @throws StoreUnavailableError */
export async function readFigure(
  rule: AlertRule,
  { statistics, problems, tenants }: FigureSources,
  nowMs: number,
): Promise<AlertReading> {
  if (rule.figure === 'problems') {
    const found = (await problems()).filter(({ severity }) => severity === 'error' || rule.severity === 'warning');
    return { value: found.length, details: found.map(({ what }) => what) };
  }
  if (rule.figure === 'spend-today') {
    const sums = await statistics.spentSince(tenants(), spendDayOf(nowMs));
    const own = sums.filter(({ botName }) => rule.bot === undefined || botName === rule.bot);
    return { value: own.reduce((sum, { micros }) => sum + micros, 0) / MICROS, details: [] };
  }
  const range = { fromMs: nowMs - rule.windowMinutes * MINUTE_MS, toMs: nowMs + 1, botName: rule.bot };
  const figures = await statistics.figures(tenants(), range);
  const { calls } = figures;
  if (rule.figure === 'calls') return { value: calls, details: [] };
  const details = [`${calls} calls in ${rule.windowMinutes} minutes`];
  if (calls < (rule.minimumCalls ?? LEAST_CALLS)) return { value: undefined, details };
  if (rule.figure !== 'interrupted-share') return { value: figureOf(rule.figure, figures), details };
  const { replies, brokenOff } = await statistics.interruptions(tenants(), range);
  return { value: shareOf(brokenOff, replies), details };
}

function figureOf(
  figure: Exclude<AlertRule['figure'], 'problems' | 'spend-today' | 'calls' | 'interrupted-share'>,
  { calls, cutOffCalls, notUnderstoodCalls, givenUp, transferred, endings, replies }: Figures,
): number | undefined {
  switch (figure) {
    case 'reply-p50-ms':
      return replies?.p50Ms;
    case 'reply-p95-ms':
      return replies?.p95Ms;
    case 'cut-off-share':
      return shareOf(cutOffCalls, calls);
    case 'failed-share':
      return shareOf(endings.failed, calls);
    case 'not-understood-share':
      return shareOf(notUnderstoodCalls, calls);
    case 'given-up-share':
      return shareOf(givenUp, calls);
    case 'transferred-share':
      return shareOf(transferred, calls);
  }
}

function shareOf(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}
