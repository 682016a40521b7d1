import { useInfiniteQuery, useMutation, type UseMutationResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import type { callCountView } from '../../../http/api/calls/call-views.ts';
import type { callReviewView, reviewPageView } from '../../../http/api/calls/review-routes.ts';
import { get, post, query, remove } from '../../api.ts';
import { useMay } from '../../session.tsx';
import { pathOf } from '../call/queries.ts';

type ReviewPage = z.output<typeof reviewPageView>;
export type Listed = ReviewPage['reviews'][number];
export type CallReview = z.output<typeof callReviewView>;

/** What the list shows, as in the page's address. */
export interface ReviewFilters {
  readonly state: 'open' | 'done';
  readonly reason: string | undefined;
  readonly bot: string | undefined;
  readonly assignee: string | undefined;
}

const EVERY_MS = 30_000;

/** How many calls wait for a look: for the page, and for its badge in the menu. */
export function useOpenCount() {
  const may = useMay('calls:read');
  return useQuery({
    queryKey: ['reviews', 'count'],
    enabled: may,
    queryFn: ({ signal }) => get<z.output<typeof callCountView>>('/reviews/count?state=open', signal),
    refetchInterval: EVERY_MS,
  });
}

export function useReviews(filters: ReviewFilters) {
  return useInfiniteQuery({
    queryKey: ['reviews', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      get<ReviewPage>(`/reviews${query({ ...filters, limit: 100, cursor: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: EVERY_MS,
  });
}

export function useReview(callId: string) {
  return useQuery({
    queryKey: ['call', callId, 'review'],
    queryFn: ({ signal }) => get<CallReview>(pathOf(callId, '/review'), signal),
  });
}

export interface ReviewChange {
  readonly state?: 'open' | 'done';
  readonly labels?: readonly string[];
  readonly assignee?: string | null;
}

/** Labels, assigns or closes a call. */
export function useReviewChange(callId: string): UseMutationResult<CallReview, Error, ReviewChange> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change) => post<CallReview>(pathOf(callId, '/review'), change),
    onSuccess: (review) => {
      client.setQueryData(['call', callId, 'review'], review);
      return client.invalidateQueries({ queryKey: ['reviews'] });
    },
  });
}

/** Adds a comment, or removes one by its id. */
export function useComments(callId: string) {
  const client = useQueryClient();
  const onSuccess = async (): Promise<void> => {
    await client.invalidateQueries({ queryKey: ['call', callId, 'review'] });
    await client.invalidateQueries({ queryKey: ['reviews'] });
  };
  return {
    add: useMutation({ mutationFn: (text: string) => post(pathOf(callId, '/comments'), { text }), onSuccess }),
    remove: useMutation({ mutationFn: (id: string) => remove(pathOf(callId, `/comments/${encodeURIComponent(id)}`)), onSuccess }),
  };
}
