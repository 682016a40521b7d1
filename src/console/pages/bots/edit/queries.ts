import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { BotSourceView, BotVersionsView, DraftView } from '../../../../http/api/bots/bot-views.ts';
import { get, post, query } from '../../../api.ts';

export function botPath(name: string, rest = ''): string {
  return `/bots/${encodeURIComponent(name)}${rest}`;
}

/** The bot's file, or a version of it; read once, since a draft is made from it. */
export function useSource(name: string, version?: number) {
  return useQuery({
    queryKey: ['bots', name, 'source', version ?? 0],
    queryFn: ({ signal }) => get<BotSourceView>(botPath(name, `/source${query({ version })}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useVersions(name: string) {
  return useQuery({
    queryKey: ['bots', name, 'versions'],
    queryFn: ({ signal }) => get<BotVersionsView>(botPath(name, '/versions'), signal),
  });
}

/** Problems of a draft, as it was typed some moments ago. */
export function useQuickCheck(name: string, text: string, isOn: boolean) {
  return useQuery({
    queryKey: ['bots', name, 'draft', text],
    queryFn: () => post<DraftView>(botPath(name, '/check'), { text, quick: true }),
    placeholderData: keepPreviousData,
    enabled: isOn,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}
