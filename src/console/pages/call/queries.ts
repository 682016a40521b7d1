import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { z } from 'zod';
import type { callAnalysesView } from '../../../http/api/calls/analysis-routes.ts';
import type { deliveriesView } from '../../../http/api/system/operation-routes.ts';
import type { peaksView } from '../../../http/api/calls/sound-routes.ts';
import type { fixtureView, ReplayReportView } from '../../../http/api/calls/replay-views.ts';
import { get, post } from '../../api.ts';
import { useMay } from '../../session.tsx';
import type { Call, Sound } from './call-model.ts';

export type Analyses = z.output<typeof callAnalysesView>;
export type Deliveries = z.output<typeof deliveriesView>;
export type Fixture = z.output<typeof fixtureView>;

/** Below `/api`, of one call. */
export function pathOf(callId: string, part = ''): string {
  return `/calls/${encodeURIComponent(callId)}${part}`;
}

export function useCall(callId: string): UseQueryResult<Call> {
  return useQuery({ queryKey: ['call', callId], queryFn: ({ signal }) => get<Call>(pathOf(callId), signal) });
}

/** How loud both sides were; undefined where there is no recording, or it may not be heard. */
export function useSound({ id, recorded }: Call): UseQueryResult<Sound> {
  const mayHear = useMay('recordings:read');
  return useQuery({
    queryKey: ['call', id, 'peaks'],
    enabled: recorded && mayHear,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => soundOf(await get<z.output<typeof peaksView>>(pathOf(id, '/peaks'), signal)),
  });
}

function soundOf({ durationMs, intervalMs, caller, bot }: z.output<typeof peaksView>): Sound {
  return { durationMs, intervalMs, caller: levelsOf(caller), bot: levelsOf(bot) };
}

function levelsOf(base64: string): Float32Array {
  return Float32Array.from(atob(base64), (byte) => byte.charCodeAt(0) / 255);
}

/** @param isAwaited whether another analysis is on its way */
export function useAnalyses(callId: string, isAwaited = false): UseQueryResult<Analyses> {
  const may = useMay('analyses:read');
  return useQuery({
    queryKey: ['call', callId, 'analyses'],
    enabled: may,
    queryFn: ({ signal }) => get<Analyses>(pathOf(callId, '/analyses'), signal),
    refetchInterval: isAwaited ? 2_000 : false,
  });
}

export function useDeliveries(callId: string): UseQueryResult<Deliveries> {
  return useQuery({
    queryKey: ['call', callId, 'webhooks'],
    queryFn: ({ signal }) => get<Deliveries>(pathOf(callId, '/webhooks?limit=200'), signal),
  });
}

export function useFixture(callId: string): UseQueryResult<Fixture> {
  return useQuery({
    queryKey: ['call', callId, 'fixture'],
    queryFn: ({ signal }) => get<Fixture>(pathOf(callId, '/fixture'), signal),
    staleTime: 60_000,
  });
}

export function replay(callId: string, settings: Readonly<Record<string, string | number | boolean>>): Promise<ReplayReportView> {
  return post<ReplayReportView>(pathOf(callId, '/replay'), { settings });
}
