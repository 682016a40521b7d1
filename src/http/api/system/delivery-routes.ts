import { z } from 'zod';
import { WEBHOOK_RETRY } from '../../../records/queue/catalog.ts';
import { backoffDelayMs } from '../../../kernel/backoff.ts';
import type { WebhookDelivery } from '../../../records/port.ts';
import { RequestRefused } from '../../problem.ts';
import type { ApiApp, ApiDeps } from '../api-app.ts';
import { isoTime } from '../calls/call-views.ts';

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

/** Webhooks sent about a call. */
export function deliveryRoutes(app: ApiApp, { store, dispatcher, audit }: ApiDeps): void {
  app.get(
    '/calls/:callId/webhooks',
    {
      config: { scope: 'calls:read' },
      schema: {
        summary: 'Webhooks about a call, newest first, and what became of each',
        params: z.strictObject({ callId: id }),
        querystring: z.strictObject({
          limit: z.coerce.number().int().min(1).max(200).default(50),
          cursor: z.string().max(500).optional(),
        }),
        response: { 200: deliveriesView },
      },
    },
    async ({ principal: { tenantId }, params: { callId }, query: { limit, cursor } }) => {
      const { deliveries, next } = await store.webhooks.page(tenantId, { limit, before: cursor, callId });
      return { deliveries: deliveries.map(viewOf), next: next ?? null };
    },
  );
  if (dispatcher === undefined) return;
  app.post(
    '/webhooks/:id/send',
    {
      config: { scope: 'jobs:write' },
      schema: {
        summary: 'Send a webhook again, delivered or not, under the same webhook-id',
        params: z.strictObject({ id }),
        response: { 202: z.object({ queued: z.boolean() }) },
      },
    },
    async ({ principal: { id: by, tenantId }, params }) => {
      if (!(await dispatcher.replay(tenantId, params.id))) throw new RequestRefused(404, 'There is no such webhook.');
      await audit?.add({ by, tenantId, action: 'webhook.send', subject: params.id, outcome: 'done' });
      return { queued: true };
    },
  );
}

function viewOf({ id: name, type, endpoint, state, attempts, ...rest }: WebhookDelivery): z.output<typeof deliveryView> {
  const { status, reason, createdAtMs, updatedAtMs } = rest;
  const waits = state === 'pending' && attempts > 0;
  const nextMs = updatedAtMs + backoffDelayMs(WEBHOOK_RETRY.backoff, attempts - 1, 0);
  return {
    id: name,
    type,
    endpoint,
    state,
    attempts,
    status: status ?? null,
    reason: reason ?? null,
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
    nextTryBy: waits ? isoTime(Math.round(nextMs)) : null,
  };
}
