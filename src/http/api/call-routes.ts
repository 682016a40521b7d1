import { Readable } from 'node:stream';
import { z } from 'zod';
import { RECORDING_TYPES } from '../../audio/recording-format.ts';
import { RequestRefused } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { byteRange } from './byte-range.ts';
import { callFilters, searchOf } from './call-filters.ts';
import { callPageView, callView, detailView, summaryView } from './call-views.ts';
import { exportRoute } from './export-route.ts';
import { liveCallRoutes } from './live-call-routes.ts';

const callId = z.strictObject({ callId: z.string().min(1).max(200) });
const nothing = z.strictObject({});

const listQuery = z.strictObject({
  ...callFilters.shape,
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
});

/** Calls, one call, its recording, and the calls that are live. */
export function callRoutes(deps: ApiDeps): ApiRoute[] {
  const { store, recordings } = deps;
  const found = async (tenantId: string, id: string) => {
    const call = await store.calls.get(tenantId, id);
    if (call === undefined) throw new RequestRefused(404, 'There is no such call.');
    return call;
  };
  return [
    apiRoute({
      path: '/calls',
      scope: 'calls:read',
      summary: 'List and search calls, newest first',
      params: nothing,
      query: listQuery,
      response: callPageView,
      async serve({ key, query: { limit, cursor, ...asked } }) {
        const page = await store.calls.search(key.tenantId, { ...searchOf(asked), limit, before: cursor });
        return { calls: page.calls.map((call) => summaryView(call, key)), next: page.next ?? null };
      },
    }),
    exportRoute(deps),
    ...liveCallRoutes(deps),
    apiRoute({
      path: '/calls/:callId',
      scope: 'calls:read',
      summary: 'One call with its turns and its timeline',
      params: callId,
      query: nothing,
      response: callView,
      serve: async ({ key, params }) => detailView(await found(key.tenantId, params.callId), key),
    }),
    apiRoute({
      path: '/calls/:callId/audio',
      scope: 'recordings:read',
      summary: 'The recording as WAV, or what it was turned into after the call, or a range of it',
      params: callId,
      query: nothing,
      contentType: Object.values(RECORDING_TYPES),
      async serve({ key, params, headers, signal }, reply) {
        const call = await found(key.tenantId, params.callId);
        const recording = await recordings.open(call);
        if (recording === undefined) throw new RequestRefused(404, 'The call has no recording.');
        const { bytes } = recording;
        const format = call.keeping.recordingFormat;
        // A player that goes on after the recording was compressed must not put two files together.
        const etag = `"${format}-${bytes}"`;
        const isSame = (headers['if-range'] ?? etag) === etag;
        const range = isSame ? byteRange(headers['range'], bytes) : undefined;
        if (range === 'unsatisfiable') {
          reply.header('content-range', `bytes */${bytes}`);
          throw new RequestRefused(416, `The recording has ${bytes} bytes, and none of them were asked for.`);
        }
        reply.header('accept-ranges', 'bytes').header('cache-control', 'private, no-store').header('etag', etag);
        reply.type(RECORDING_TYPES[format]);
        const { start, end } = range ?? { start: 0, end: bytes };
        if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${bytes}`);
        return reply.header('content-length', end - start).send(Readable.from(recording.read(start, end, signal)));
      },
    }),
  ];
}
