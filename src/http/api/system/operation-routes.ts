import { z } from 'zod';
import { HEAD_ACTION } from '../../../records/retention/audit-heads.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { type FailedJob, ALL_QUEUES, WEBHOOK_RETRY } from '../../../records/queue/port.ts';
import { RequestRefused } from '../../problem.ts';
import { isoTime, viewOf } from '../views.ts';
import { backoffDelayMs } from '../../../kernel/backoff.ts';
import type { WebhookDelivery } from '../../../records/port.ts';

/** One entry of the audit log. */
export const auditEventView = z.object({
  at: z.iso.datetime(),
  /** The id of a key, `console` and a user's name, or a command. */
  by: z.string(),
  /** For example `live-call.mute`; `look` for access to personal values. */
  action: z.string(),
  /** The id of a call; for a look, the API path. */
  subject: z.string(),
  outcome: z.enum(['done', 'refused', 'failed']),
});
/** `head`: the gateway's own entries on the log of dialling decisions; only listed on request. */
const AUDIT_KINDS = ['look', 'session', 'change', 'head'] as const;
export const auditPageView = z.object({ events: z.array(auditEventView), next: z.string().nullable() });

const auditQuery = z.strictObject({
  kind: z.enum(AUDIT_KINDS).optional(),
  /** A part of the author, the action or the subject. */
  text: z.string().trim().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.coerce.number().int().min(1).optional(),
});

/** Audit log entries, newest first. */
export function auditRoutes(app: ApiApp, { audit }: ApiDeps): void {
  if (audit === undefined) return;
  app.get(
    '/audit',
    about('audit:read', 'Who did what, and who looked at personal values, newest first', {
      querystring: auditQuery,
      response: { 200: auditPageView },
    }),
    async ({ principal, query: { kind, text, limit, cursor } }) => {
      const part = text?.toLowerCase();
      const { lines, before } = await audit.page(
        ({ tenantId, by, action, subject }) =>
          tenantId === principal.tenantId &&
          (kind === undefined ? kindOf(action) !== 'head' : kindOf(action) === kind) &&
          (part === undefined || [by, action, subject].some((each) => each.toLowerCase().includes(part))),
        { limit, before: cursor },
      );
      const events = lines.map(({ at, by, action, subject, outcome }) => ({ at, by, action, subject, outcome }));
      return { events, next: before === undefined ? null : String(before) };
    },
  );
}

function kindOf(action: string): (typeof AUDIT_KINDS)[number] {
  if (action === 'look') return 'look';
  if (action === HEAD_ACTION) return 'head';
  return action.startsWith('session.') ? 'session' : 'change';
}

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
    about('jobs:write', 'Jobs that will not be tried again, latest first', {
      params: queue,
      response: { 200: z.object({ failed: z.array(failedView) }) },
    }),
    async ({ principal, params }) => {
      const failed = await failedOf(principal.tenantId, params.queue);
      return {
        failed: failed.map(({ id, attempts, reason, failedAtMs }) => ({ id, attempts, reason, failedAt: isoTime(failedAtMs) })),
      };
    },
  );
  app.post(
    '/jobs/:queue/retry',
    about('jobs:write', 'Try failed jobs again: the one that is named, or all', {
      params: queue,
      body: z.strictObject({ id: z.string().min(1).max(300).optional() }),
      response: { 202: z.object({ retried: z.int() }) },
    }),
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

const wallTime = z.iso.datetime();
const id = z.string().min(1).max(200);

/** Delivery state of a call's webhook, without its content. */
export const deliveryView = z.object({
  id: z.string(),
  /** For example `call.ended`. */
  type: z.string(),
  /** Name in the settings. */
  endpoint: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  /** The last answer's status, and why it was no success. */
  status: z.int().nullable(),
  reason: z.string().nullable(),
  createdAt: wallTime,
  updatedAt: wallTime,
  /** Latest time of the next try; null without one, or right before the first. */
  nextTryBy: wallTime.nullable(),
});
export const deliveriesView = z.object({ deliveries: z.array(deliveryView), next: z.string().nullable() });
export type DeliveriesView = z.output<typeof deliveriesView>;

/** Webhooks sent about a call. */
export function deliveryRoutes(app: ApiApp, { store, dispatcher, audit }: ApiDeps): void {
  app.get(
    '/calls/:callId/webhooks',
    about('calls:read', 'Webhooks about a call, newest first, and what became of each', {
      params: z.strictObject({ callId: id }),
      querystring: z.strictObject({
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: deliveriesView },
    }),
    async ({ principal: { tenantId }, params: { callId }, query: { limit, cursor } }) => {
      const { deliveries, next } = await store.webhooks.page(tenantId, { limit, before: cursor, callId });
      return { deliveries: deliveries.map(viewOfDelivery), next: next ?? null };
    },
  );
  if (dispatcher === undefined) return;
  app.post(
    '/webhooks/:id/send',
    about('jobs:write', 'Send a webhook again, delivered or not, under the same webhook-id', {
      params: z.strictObject({ id }),
      response: { 202: z.object({ queued: z.boolean() }) },
    }),
    async ({ principal: { id: by, tenantId }, params }) => {
      if (!(await dispatcher.replay(tenantId, params.id))) throw new RequestRefused(404, 'There is no such webhook.');
      await audit?.add({ by, tenantId, action: 'webhook.send', subject: params.id, outcome: 'done' });
      return { queued: true };
    },
  );
}

/** A delivery in the form of the API. */
export function viewOfDelivery(delivery: WebhookDelivery): z.output<typeof deliveryView> {
  const { state, attempts, updatedAtMs } = delivery;
  const waits = state === 'pending' && attempts > 0;
  const nextMs = updatedAtMs + backoffDelayMs(WEBHOOK_RETRY.backoff, attempts - 1, 0);
  return viewOf(deliveryView, delivery, { nextTryBy: waits ? isoTime(Math.round(nextMs)) : null });
}
