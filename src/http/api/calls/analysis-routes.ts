import { z } from 'zod';
import { postCallJobId } from '../../../records/after-call/analyse-call.ts';
import { POST_CALL } from '../../../records/queue/port.ts';
import type { Analysis } from '../../../records/port.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { viewOf } from '../views.ts';

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

export const callAnalysesView = z.object({ analyses: z.array(analysisView), profiles: z.array(z.string()) });

/** Analyses of calls: list, read, and request another one by another profile. */
export function analysisRoutes(app: ApiApp, { store, queue, profiles, audit }: ApiDeps): void {
  app.get(
    '/calls/:callId/analyses',
    about('analyses:read', "A call's analyses, one for each profile, and the profiles that there are", {
      params: callId,
      response: { 200: callAnalysesView },
    }),
    async ({ principal, params }) => ({
      analyses: (await store.analyses.list(principal.tenantId, params.callId)).map(viewOfAnalysis),
      profiles: [...profiles.names],
    }),
  );
  app.post(
    '/calls/:callId/analyses',
    about('analyses:write', 'Analyse a call once more, with a profile; the earlier results stay', {
      params: callId,
      body: z.strictObject({ profile: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/u) }),
      response: { 202: z.object({ job: z.string() }) },
    }),
    async ({ principal: { id: by, tenantId }, params, id, headers, body: { profile } }) => {
      requireKnownProfile(profiles, profile);
      const subject = { tenantId, callId: params.callId };
      if ((await store.calls.get(tenantId, params.callId)) === undefined) throw new RequestRefused(404, 'There is no such call.');
      // The same key requests the same job. Without one each request is new.
      const wish = [headers['idempotency-key'] ?? id].flat()[0];
      const job = `${postCallJobId(subject)}:${profile}:${wish}`;
      await queue.enqueue(POST_CALL, job, { ...subject, profile });
      await audit?.add({ by, tenantId, action: 'call.analyse', subject: params.callId, outcome: 'done' });
      return { job };
    },
  );
  app.get(
    '/analyses',
    about('analyses:read', 'All analyses, newest first', {
      querystring: z.strictObject({
        profile: z.string().min(1).max(100).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: z.object({ analyses: z.array(analysisView), next: z.string().nullable() }) },
    }),
    async ({ principal, query: { profile, limit, cursor } }) => {
      const page = await store.analyses.page(principal.tenantId, { limit, before: cursor, profile });
      return { analyses: page.analyses.map(viewOfAnalysis), next: page.next ?? null };
    },
  );
}

/** @throws RequestRefused that lists the profiles, for an unknown one */
export function requireKnownProfile(profiles: ApiDeps['profiles'], name: string): void {
  if (!profiles.names.includes(name))
    throw new RequestRefused(400, `There is no analysis profile ${name}; there are ${profiles.names.join(', ')}.`);
}

function viewOfAnalysis(analysis: Analysis): z.output<typeof analysisView> {
  return viewOf(analysisView, analysis, {});
}
