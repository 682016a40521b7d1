import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { BotListView, BotPathsView, BotStatsView, BotView } from '../../../http/api/bots/bot-views.ts';
import { get, query } from '../../api.ts';

/** Which calls of a bot are counted. */
export interface Counted {
  readonly days: number;
  readonly version: string | undefined;
}

const DAY_MS = 86_400_000;

/** Counts of the same minute are the same question. */
function countedQuery({ days, version }: Counted): string {
  const toMs = Math.ceil(Date.now() / 60_000) * 60_000;
  return query({ from: new Date(toMs - days * DAY_MS).toISOString(), to: new Date(toMs).toISOString(), version });
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

export function useStats(name: string, counted: Counted) {
  return useQuery({
    queryKey: ['bots', name, 'stats', counted],
    queryFn: ({ signal }) => get<BotStatsView>(`/bots/${encodeURIComponent(name)}/stats${countedQuery(counted)}`, signal),
    placeholderData: keepPreviousData,
  });
}
