import { z } from 'zod';
import { postCallJobId } from '../../jobs/after-call/job.ts';
import { POST_CALL } from '../../jobs/queue/catalog.ts';
import type { Analysis } from '../../store/port.ts';
import { RequestRefused } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { isoTime } from './call-views.ts';
import { requireKnownProfile } from './known-profile.ts';

const callId = z.strictObject({ callId: z.string().min(1).max(200) });

const analysisView = z.object({
  callId: z.string(),
  profile: z.string(),
  version: z.int(),
  createdAt: z.iso.datetime(),
  disposition: z.string().nullable(),
  score: z.number().nullable(),
  /** See docs/analysis.md. */
  document: z.unknown(),
});
const jobView = z.object({ job: z.string() });

/** Analyses of calls: those there are, all of them, and another one by another profile. */
export function analysisRoutes({ store, queue, profiles }: ApiDeps): ApiRoute[] {
  return [
    apiRoute({
      path: '/calls/:callId/analyses',
      scope: 'analyses:read',
      summary: "A call's analyses, one for each profile",
      params: callId,
      query: z.strictObject({}),
      response: z.object({ analyses: z.array(analysisView) }),
      serve: async ({ key, params }) => ({ analyses: (await store.analyses.list(key.tenantId, params.callId)).map(viewOf) }),
    }),
    apiRoute({
      method: 'POST',
      path: '/calls/:callId/analyses',
      scope: 'analyses:write',
      summary: 'Analyse a call once more, with a profile; the earlier results stay',
      params: callId,
      query: z.strictObject({}),
      body: z.strictObject({ profile: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/u) }),
      response: jobView,
      status: 202,
      async serve({ key: { tenantId }, params, requestId, headers, body: { profile } }) {
        requireKnownProfile(profiles, profile);
        const subject = { tenantId, callId: params.callId };
        if ((await store.calls.get(tenantId, params.callId)) === undefined)
          throw new RequestRefused(404, 'There is no such call.');
        // The same key asks for the same job: a repeat is a no-op. Without one each request is a new one.
        const wish = headers['idempotency-key'] ?? requestId;
        const job = `${postCallJobId(subject)}:${profile}:${wish}`;
        await queue.enqueue(POST_CALL, job, { ...subject, profile });
        return { job };
      },
    }),
    apiRoute({
      path: '/analyses',
      scope: 'analyses:read',
      summary: 'All analyses, newest first',
      params: z.strictObject({}),
      query: z.strictObject({
        profile: z.string().min(1).max(100).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: z.object({ analyses: z.array(analysisView), next: z.string().nullable() }),
      async serve({ key, query: { profile, limit, cursor } }) {
        const page = await store.analyses.page(key.tenantId, { limit, before: cursor, profile });
        return { analyses: page.analyses.map(viewOf), next: page.next ?? null };
      },
    }),
  ];
}

function viewOf({
  callId,
  profile,
  version,
  createdAtMs,
  disposition,
  score,
  document,
}: Analysis): z.output<typeof analysisView> {
  return {
    callId,
    profile,
    version,
    createdAt: isoTime(createdAtMs),
    disposition: disposition ?? null,
    score: score ?? null,
    document,
  };
}
