import { outcomeOf } from '../call/log/outcome.ts';
import type { AlertRule } from '../config/alerts.ts';
import { spendDayOf } from '../costs/spend.ts';
import type { RecentCalls, StatisticsRepository } from '../records/statistics.ts';
import type { AlertReading } from './rule-state.ts';

/** Something that is wrong now, as the system page shows it. */
export interface NamedProblem {
  readonly severity: 'warning' | 'error';
  readonly what: string;
}

export interface FigureSources {
  readonly statistics: Pick<StatisticsRepository, 'recent' | 'spentSince'>;
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
  const recent = await statistics.recent(tenants(), range);
  const calls = recent.endings.reduce((sum, ending) => sum + ending.calls, 0);
  if (rule.figure === 'calls') return { value: calls, details: [] };
  const details = [`${calls} calls in ${rule.windowMinutes} minutes`];
  return { value: calls < (rule.minimumCalls ?? LEAST_CALLS) ? undefined : figureOf(rule.figure, recent, calls), details };
}

function figureOf(
  figure: Exclude<AlertRule['figure'], 'problems' | 'spend-today' | 'calls'>,
  { endings, replies, replyP50Ms, replyP95Ms, brokenOff }: RecentCalls,
  calls: number,
): number | undefined {
  const share = (count: number, of: number): number | undefined => (of === 0 ? undefined : count / of);
  switch (figure) {
    case 'reply-p50-ms':
      return replyP50Ms;
    case 'reply-p95-ms':
      return replyP95Ms;
    case 'cut-off-share':
      return share(
        endings.reduce((sum, { cutOffCalls }) => sum + cutOffCalls, 0),
        calls,
      );
    case 'interrupted-share':
      return share(brokenOff, replies);
    case 'failed-share':
      return share(
        endings.reduce((sum, { endReason, calls: ended }) => sum + (outcomeOf(endReason) === 'failed' ? ended : 0), 0),
        calls,
      );
  }
}
