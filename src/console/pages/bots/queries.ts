import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { BotListView, BotPathsView, BotView } from '../../../http/api/bots/bot-views.ts';
import type { StatisticsView } from '../../../http/api/calls/statistics-views.ts';
import { get, query } from '../../api.ts';

/** Which calls of a bot are counted. */
export interface Counted {
  readonly days: number;
  readonly version: string | undefined;
}

const DAY_MS = 86_400_000;

/** Counts of the same minute are the same question. */
function countedQuery({ days, version }: Counted, more: Readonly<Record<string, string>> = {}): string {
  const toMs = Math.ceil(Date.now() / 60_000) * 60_000;
  return query({ ...more, from: new Date(toMs - days * DAY_MS).toISOString(), to: new Date(toMs).toISOString(), version });
}

export function useBots() {
  return useQuery({ queryKey: ['bots'], queryFn: ({ signal }) => get<BotListView>('/bots', signal), refetchInterval: 15_000 });
}

export function useBot(name: string) {
  return useQuery({
    queryKey: ['bots', name],
    queryFn: ({ signal }) => get<BotView>(`/bots/${encodeURIComponent(name)}`, signal),
    refetchInterval: 15_000,
  });
}

export function usePaths(name: string, counted: Counted) {
  return useQuery({
    queryKey: ['bots', name, 'paths', counted],
    queryFn: ({ signal }) => get<BotPathsView>(`/bots/${encodeURIComponent(name)}/paths${countedQuery(counted)}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
}

export function useStats(bot: string, counted: Counted) {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const wanted = { bot, by: 'version,day,disposition', zone };
  return useQuery({
    queryKey: ['bots', bot, 'stats', counted],
    queryFn: ({ signal }) => get<StatisticsView>(`/statistics${countedQuery(counted, wanted)}`, signal),
    placeholderData: keepPreviousData,
  });
}

type Hop = BotPathsView['hops'][number];

/** What calls did in a flow, by step. */
export interface Traffic {
  readonly hops: ReadonlyMap<string, Hop>;
  /** Calls that came to a step, and how many of them ended there without the bot's own end or a transfer. */
  readonly of: (step: string) => { readonly calls: number; readonly lost: number };
  readonly endsAt: (step: string) => BotPathsView['ends'];
}

/** Endings that the bot wanted. */
const WANTED: ReadonlySet<string> = new Set(['finished', 'transferred']);

export function trafficOf(paths: BotPathsView | undefined): Traffic {
  const steps = new Map(paths?.steps.map((each) => [each.step, each.calls]));
  const endsAt = (step: string): BotPathsView['ends'] => paths?.ends.filter((end) => end.step === step) ?? [];
  return {
    hops: new Map(paths?.hops.map((hop) => [`${hop.from ?? ''}>${hop.to}`, hop])),
    of: (step) => ({
      calls: steps.get(step) ?? 0,
      lost: endsAt(step).reduce((sum, { ending, calls }) => sum + (WANTED.has(ending) ? 0 : calls), 0),
    }),
    endsAt,
  };
}
