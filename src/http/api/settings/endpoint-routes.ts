import { z } from 'zod';
import { WEBHOOK_EVENTS, type WebhookEndpoint } from '../../../config/webhook-endpoints.ts';
import { WebhookBookError } from '../../../records/webhooks/webhook-book.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { hideAddresses } from '../bots/hidden-addresses.ts';
import { deliveriesView, viewOfDelivery } from '../system/operation-routes.ts';
import { type EndpointsView, endpointsView, newEndpointView, testView } from './settings-views.ts';

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/u, 'lower-case letters, digits and hyphens, at most 63');
const addition = z.strictObject({
  name,
  url: z
    .url({ protocol: /^https$/u })
    .max(2_000)
    .refine((url) => !new URL(url).username, 'without a user name: deliveries are signed'),
  events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(WEBHOOK_EVENTS.length),
  /** `full` needs `numbers:read`. */
  numbers: z.enum(['masked', 'full']).default('masked'),
  /** Whether what was said goes along; needs `calls:read`. */
  words: z.boolean().default(false),
});

/** Webhook endpoints of a tenant, their tests and deliveries. */
export function endpointRoutes(app: ApiApp, { settings, store, audit }: ApiDeps): void {
  const endpoints = settings?.endpoints;
  if (endpoints === undefined) return;
  const viewOf = (endpoint: WebhookEndpoint): EndpointsView['endpoints'][number] => {
    const { name: called, url, events, numbers, words } = endpoint;
    const from = endpoints.isConfigured(endpoint) ? 'settings' : 'console';
    return { name: called, url: hideAddresses(url), events: [...events], numbers, words, from };
  };
  const own = (tenantId: string): WebhookEndpoint[] =>
    refusing(() => endpoints.all()).filter((each) => each.tenantId === tenantId);
  const found = (tenantId: string, called: string): WebhookEndpoint => {
    const endpoint = own(tenantId).find((each) => each.name === called);
    if (endpoint === undefined) throw new RequestRefused(404, 'There is no such endpoint.');
    return endpoint;
  };
  app.get(
    '/webhooks/endpoints',
    about('settings:read', 'Webhook endpoints, without their secrets', { response: { 200: endpointsView } }),
    async ({ principal: { tenantId } }) => ({
      endpoints: own(tenantId).map(viewOf),
      events: [...WEBHOOK_EVENTS],
      readOnly: endpoints.readOnly ?? null,
    }),
  );
  app.post(
    '/webhooks/endpoints',
    {
      // The secret is not stored for a repeat.
      config: { scope: 'settings:write', stored: (answer) => ({ ...newEndpointView.parse(answer), secret: null }) },
      schema: { summary: 'Add a webhook endpoint; its secret is shown once', body: addition, response: { 201: newEndpointView } },
    },
    async ({ principal: { id: by, tenantId, scopes }, body }) => {
      if (endpoints.readOnly !== undefined) throw new RequestRefused(409, endpoints.readOnly);
      if (body.numbers === 'full' && !scopes.includes('numbers:read'))
        throw new RequestRefused(403, 'Full numbers need the scope numbers:read.');
      if (body.words && !scopes.includes('calls:read')) throw new RequestRefused(403, 'Words need the scope calls:read.');
      const secret = refusing(() => endpoints.add({ ...body, tenantId }));
      await audit?.add({ by, tenantId, action: 'webhook-endpoint.add', subject: body.name, outcome: 'done' });
      return { ...viewOf(found(tenantId, body.name)), secret };
    },
  );
  app.delete(
    '/webhooks/endpoints/:name',
    about('settings:write', 'Remove a webhook endpoint that was added here', {
      params: z.strictObject({ name }),
      response: { 200: z.object({ removed: z.boolean() }) },
    }),
    async ({ principal: { id: by, tenantId }, params: { name: called } }) => {
      if (endpoints.isConfigured(found(tenantId, called)))
        throw new RequestRefused(409, 'This endpoint is in the settings (webhooks.endpoints): remove it there.');
      refusing(() => endpoints.remove(tenantId, called));
      await audit?.add({ by, tenantId, action: 'webhook-endpoint.remove', subject: called, outcome: 'done' });
      return { removed: true };
    },
  );
  app.post(
    '/webhooks/endpoints/:name/test',
    about('settings:write', 'Send a signed test event to an endpoint, and say how it answered', {
      params: z.strictObject({ name }),
      response: { 200: testView },
    }),
    async ({ principal: { id: by, tenantId }, params: { name: called } }) => {
      const { status, problem } = await endpoints.test(found(tenantId, called));
      const outcome = problem === undefined ? 'done' : 'failed';
      await audit?.add({ by, tenantId, action: 'webhook-endpoint.test', subject: called, outcome });
      return { ok: problem === undefined, status: status ?? null, problem: problem ?? null };
    },
  );
  app.get(
    '/webhooks',
    about('settings:read', 'The latest deliveries of webhooks, newest first', {
      querystring: z.strictObject({
        endpoint: name.optional(),
        state: z.enum(['pending', 'delivered', 'failed']).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: deliveriesView },
    }),
    async ({ principal: { tenantId }, query: { endpoint, state, limit, cursor } }) => {
      const { deliveries, next } = await store.webhooks.page(tenantId, { limit, before: cursor, endpoint, state });
      return { deliveries: deliveries.map(viewOfDelivery), next: next ?? null };
    },
  );
}

function refusing<Value>(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof WebhookBookError) throw new RequestRefused(409, `${error.message}.`, { cause: error });
    throw error;
  }
}
