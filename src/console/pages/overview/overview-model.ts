import type { FiguresView } from '../../../http/api/calls/statistics-views.ts';

export type Range = 'today' | 'week';

/** A period in the reader's own zone, and the beginning of the one that it is held against: yesterday so far, or the seven days before. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
  readonly before: Date;
  /** Where the chart ends: today has hours that are still to come. */
  readonly chartTo: Date;
}

export function periodOf(range: Range, now: Date): Period {
  const midnight = (days: number): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  const [first, days] = range === 'today' ? [midnight(0), 1] : [midnight(-6), 7];
  // A minute is one question.
  const to = new Date(Math.max(first.getTime(), Math.ceil(now.getTime() / 60_000) * 60_000) + 60_000);
  const before = new Date(first.getFullYear(), first.getMonth(), first.getDate() - days);
  return { from: first, to, before, chartTo: midnight(1) };
}

/** A day as the filters of Calls have it: `2026-03-01`. */
export function dayText(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export const TILES = [
  'calls',
  'answered',
  'contained',
  'transferred',
  'givenUp',
  'optedOut',
  'median',
  'slowest',
  'cutOffs',
  'notUnderstood',
  'cost',
] as const;
export type TileName = (typeof TILES)[number];

export interface Tile {
  readonly name: TileName;
  /** `share`: `count` of `whole`. */
  readonly kind: 'count' | 'share' | 'wait' | 'money';
  readonly count: number;
  readonly whole: number;
  readonly currency: string;
}

/** One figure of a period; undefined where nothing can be said: no reply, no cost. */
export function tileOf(name: TileName, figures: FiguresView): Tile | undefined {
  const { calls, answered, replies, costs } = figures;
  const tile = (kind: Tile['kind'], count: number, whole = 0, currency = ''): Tile => ({ name, kind, count, whole, currency });
  switch (name) {
    case 'calls':
      return tile('count', calls);
    case 'answered':
      return tile('share', answered, calls);
    case 'contained':
    case 'transferred':
    case 'givenUp':
      return tile('share', figures[name], answered);
    case 'optedOut':
      return tile('share', figures.optedOut, calls);
    case 'cutOffs':
      return tile('share', figures.cutOffCalls, calls);
    case 'notUnderstood':
      return tile('share', figures.notUnderstoodCalls, calls);
    case 'median':
      return replies === null ? undefined : tile('wait', replies.p50Ms);
    case 'slowest':
      return replies === null ? undefined : tile('wait', replies.p95Ms);
    case 'cost': {
      const [first] = costs.toSorted((one, other) => other.amount - one.amount);
      return first === undefined ? undefined : tile('money', first.amount, calls, first.currency);
    }
  }
}

/** Whether more of it is better (1), worse (-1), or neither. */
const BETTER: Readonly<Record<TileName, 1 | -1 | 0>> = {
  calls: 0,
  answered: 1,
  contained: 1,
  transferred: 0,
  givenUp: -1,
  optedOut: -1,
  median: -1,
  slowest: -1,
  cutOffs: -1,
  notUnderstood: -1,
  cost: 0,
};

export interface Change {
  /** Percentage points for a share, ms for a wait, else percent. */
  readonly by: number;
  readonly unit: 'points' | 'ms' | 'percent';
  readonly verdict: 'better' | 'worse' | 'neither';
}

/** Waits that differ by less are alike: counted ones are no more exact. */
const NOTICED_MS = 50;

/** @returns undefined where there is nothing to compare with */
export function changeOf(now: Tile | undefined, before: Tile | undefined): Change | undefined {
  if (now === undefined || before === undefined || now.kind !== before.kind || now.currency !== before.currency) return undefined;
  const change = (by: number, unit: Change['unit']): Change => {
    const sign = Math.sign(by) * BETTER[now.name];
    return { by, unit, verdict: sign > 0 ? 'better' : sign < 0 ? 'worse' : 'neither' };
  };
  if (now.kind === 'wait') {
    const byMs = now.count - before.count;
    return change(Math.abs(byMs) < NOTICED_MS ? 0 : byMs, 'ms');
  }
  if (now.kind !== 'share')
    return before.count === 0 ? undefined : change(Math.round((now.count / before.count - 1) * 100), 'percent');
  if (now.whole === 0 || before.whole === 0) return undefined;
  return change(Math.round((now.count / now.whole - before.count / before.whole) * 1000) / 10, 'points');
}

/** The filters of Calls that find the calls of a figure, as in its address. */
export function linkOf(name: TileName, days: { readonly from: string; readonly to: string }, bot: string | undefined): string {
  const filter: Partial<Record<TileName, readonly [string, string]>> = {
    contained: ['result', 'contained'],
    transferred: ['result', 'transferred'],
    givenUp: ['result', 'given-up'],
    optedOut: ['optedOut', 'true'],
    slowest: ['minReplyMs', '1500'],
    cutOffs: ['cutOff', 'true'],
    notUnderstood: ['notUnderstood', 'true'],
  };
  const search = new URLSearchParams(days);
  if (bot !== undefined) search.set('bot', bot);
  const own = filter[name];
  if (own !== undefined) search.set(...own);
  return `/calls?${search}`;
}
