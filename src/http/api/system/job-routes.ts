import { z } from 'zod';
import type { FailedJob } from '../../../records/queue/port.ts';
import { ALL_QUEUES } from '../../../records/queue/catalog.ts';
import { RequestRefused } from '../../problem.ts';
import type { ApiApp, ApiDeps } from '../api-app.ts';
import { isoTime } from '../calls/call-views.ts';

const queue = z.strictObject({ queue: z.enum(ALL_QUEUES) });
const ownedBy = z.looseObject({ tenantId: z.string() });
/** Most failed jobs searched for those of a tenant. */
const MOST_FAILED = 1000;

const failedView = z.object({
  id: z.string(),
  attempts: z.int(),
  reason: z.string(),
  failedAt: z.iso.datetime(),
});

/** Failed jobs, and retrying them. A tenant only sees and retries its own. */
export function jobRoutes(app: ApiApp, { queue: jobs, audit }: ApiDeps): void {
  const failedOf = async (tenantId: string, name: string): Promise<FailedJob[]> => {
    const failed = await jobs.failed(name, { limit: MOST_FAILED });
    return failed.filter(({ payload }) => ownedBy.safeParse(payload).data?.tenantId === tenantId);
  };
  app.get(
    '/jobs/:queue/failed',
    {
      config: { scope: 'jobs:write' },
      schema: {
        summary: 'Jobs that will not be tried again, latest first',
        params: queue,
        response: { 200: z.object({ failed: z.array(failedView) }) },
      },
    },
    async ({ principal, params }) => {
      const failed = await failedOf(principal.tenantId, params.queue);
      return {
        failed: failed.map(({ id, attempts, reason, failedAtMs }) => ({ id, attempts, reason, failedAt: isoTime(failedAtMs) })),
      };
    },
  );
  app.post(
    '/jobs/:queue/retry',
    {
      config: { scope: 'jobs:write' },
      schema: {
        summary: 'Try failed jobs again: the one that is named, or all',
        params: queue,
        body: z.strictObject({ id: z.string().min(1).max(300).optional() }),
        response: { 202: z.object({ retried: z.int() }) },
      },
    },
    async ({ principal, params, body: { id } }) => {
      const failed = await failedOf(principal.tenantId, params.queue);
      const wanted = id === undefined ? failed : failed.filter((job) => job.id === id);
      if (id !== undefined && wanted.length === 0) throw new RequestRefused(404, 'There is no such failed job.');
      let retried = 0;
      const event = { by: principal.id, tenantId: principal.tenantId, action: 'job.retry', outcome: 'done' } as const;
      for (const job of wanted) {
        if (!(await jobs.retry(params.queue, job.id))) continue;
        retried += 1;
        await audit?.add({ ...event, subject: job.id });
      }
      return { retried };
    },
  );
}
