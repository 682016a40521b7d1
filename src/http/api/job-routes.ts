import { z } from 'zod';
import { QUEUES } from '../../jobs/queue/catalog.ts';
import type { FailedJob } from '../../jobs/queue/port.ts';
import { RequestRefused } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { isoTime } from './call-views.ts';

const queue = z.strictObject({ queue: z.enum(QUEUES) });
const nothing = z.strictObject({});
const ownedBy = z.looseObject({ tenantId: z.string() });
/** Failed jobs that are looked through for those of one tenant. */
const MOST_FAILED = 1000;

const failedView = z.object({
  id: z.string(),
  attempts: z.int(),
  reason: z.string(),
  failedAt: z.iso.datetime(),
});

/** Jobs that were given up, and their second chance. A tenant sees and retries its own alone. */
export function jobRoutes({ queue: jobs }: ApiDeps): ApiRoute[] {
  const failedOf = async (tenantId: string, name: string): Promise<FailedJob[]> => {
    const failed = await jobs.failed(name, { limit: MOST_FAILED });
    return failed.filter(({ payload }) => ownedBy.safeParse(payload).data?.tenantId === tenantId);
  };
  return [
    apiRoute({
      path: '/jobs/:queue/failed',
      scope: 'jobs:write',
      summary: 'Jobs that will not be tried again, latest first',
      params: queue,
      query: nothing,
      response: z.object({ failed: z.array(failedView) }),
      async serve({ key, params }) {
        const failed = await failedOf(key.tenantId, params.queue);
        return {
          failed: failed.map(({ id, attempts, reason, failedAtMs }) => ({ id, attempts, reason, failedAt: isoTime(failedAtMs) })),
        };
      },
    }),
    apiRoute({
      method: 'POST',
      path: '/jobs/:queue/retry',
      scope: 'jobs:write',
      summary: 'Try failed jobs again: the one that is named, or all',
      params: queue,
      query: nothing,
      body: z.strictObject({ id: z.string().min(1).max(300).optional() }),
      response: z.object({ retried: z.int() }),
      status: 202,
      async serve({ key, params, body: { id } }) {
        const failed = await failedOf(key.tenantId, params.queue);
        const wanted = id === undefined ? failed : failed.filter((job) => job.id === id);
        if (id !== undefined && wanted.length === 0) throw new RequestRefused(404, 'There is no such failed job.');
        let retried = 0;
        for (const job of wanted) if (await jobs.retry(params.queue, job.id)) retried += 1;
        return { retried };
      },
    }),
  ];
}
