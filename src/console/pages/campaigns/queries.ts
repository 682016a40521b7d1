import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import type { attemptPageView } from '../../../http/api/calls/call-views.ts';
import type {
  campaignDetailView,
  campaignItemView,
  choicesView,
  contactView,
  decisionView,
  hoursView,
  importView,
  progressView,
  rowProblemView,
} from '../../../http/api/campaigns/campaign-views.ts';
import { get, post, query } from '../../api.ts';

export type CampaignItem = z.output<typeof campaignItemView>;
export type CampaignDetail = z.output<typeof campaignDetailView>;
export type Progress = z.output<typeof progressView>;
export type Choices = z.output<typeof choicesView>;
export type Contact = z.output<typeof contactView>;
export type Attempts = z.output<typeof attemptPageView>;
export type Hours = z.output<typeof hoursView>;
export type Imported = z.output<typeof importView>;
export type RowProblem = z.output<typeof rowProblemView>;
export type Decision = z.output<typeof decisionView>;
export type CampaignAct = 'start' | 'pause' | 'resume' | 'stop';

/** Poll interval; the query library stops while the page is hidden. */
const EVERY_MS = 2_000;

export function useCampaigns() {
  return useQuery({
    queryKey: ['campaigns'],
    queryFn: ({ signal }) => get<{ campaigns: CampaignItem[]; next: string | null }>('/campaigns?limit=200', signal),
    refetchInterval: ({ state }) => (state.data?.campaigns.some(({ state: is }) => is === 'running') === true ? EVERY_MS : false),
  });
}

export function useChoices() {
  return useQuery({
    queryKey: ['campaign choices'],
    queryFn: ({ signal }) => get<Choices>('/campaigns/choices', signal),
    staleTime: 60_000,
  });
}

/** Settings, and what is missing for a start. */
export function useCampaign(id: string) {
  return useQuery({ queryKey: ['campaign', id], queryFn: ({ signal }) => get<CampaignDetail>(`/campaigns/${id}`, signal) });
}

/** All that changes: calls while it runs, and contacts at any time, by this page or another. What the gateway counted may be a second old. */
export function useProgress(id: string) {
  return useQuery({
    queryKey: ['campaign', id, 'progress'],
    queryFn: ({ signal }) => get<Progress>(`/campaigns/${id}/progress`, signal),
    refetchInterval: EVERY_MS,
  });
}

export function useHours(id: string, isOpen: boolean) {
  return useQuery({
    queryKey: ['campaign', id, 'hours'],
    queryFn: ({ signal }) => get<Hours>(`/campaigns/${id}/hours${query({ from: midnight().toISOString() })}`, signal),
    enabled: isOpen,
    refetchInterval: 60_000,
  });
}

/** The beginning of today on the reader's clock. */
function midnight(): Date {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate());
}

export function useAttempts(
  id: string,
  filters: { readonly contact?: string; readonly cause?: string; readonly disposition?: string },
) {
  return useQuery({
    queryKey: ['campaign', id, 'attempts', filters],
    queryFn: ({ signal }) => get<Attempts>(`/campaigns/${id}/attempts${query({ ...filters, limit: 50 })}`, signal),
  });
}

export function useDecision(attemptId: string) {
  return useQuery({
    queryKey: ['decision', attemptId],
    queryFn: ({ signal }) => get<Decision>(`/attempts/${attemptId}/decision`, signal),
    staleTime: Infinity,
  });
}

export function useChange(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ act, reason }: { readonly act: CampaignAct; readonly reason?: string | undefined }) =>
      post<CampaignDetail>(`/campaigns/${id}/${act}`, reason === undefined ? {} : { reason }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['campaign', id] }),
        client.invalidateQueries({ queryKey: ['campaigns'] }),
      ]),
  });
}
