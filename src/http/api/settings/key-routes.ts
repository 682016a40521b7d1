import { z } from 'zod';
import { DEFAULT_TENANT, tenantId as tenantSchema } from '../../../config/tenant-id.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { API_SCOPES, type ApiKeyBook } from '../system/api-keys.ts';
import { isoTime } from '../views.ts';
import { type ApiKeysView, apiKeysView, newApiKeyView } from './settings-views.ts';

const creation = z.strictObject({
  name: z.string().trim().min(1).max(100),
  /** Those of the asking key or user at most. */
  scopes: z.array(z.enum(API_SCOPES)).min(1).max(API_SCOPES.length),
  /** Only for the operator's keys; the own tenant when absent. */
  tenant: tenantSchema.optional(),
});
/** Most keys of one tenant. */
const MOST_KEYS = 500;

type ListedKey = Awaited<ReturnType<ApiKeyBook['list']>>[number];

/** API keys: listed, made and revoked. The operator (the tenant `default`) has those of all tenants. */
export function keyRoutes(app: ApiApp, { keys, settings, clock, audit }: ApiDeps): void {
  const viewOf = ({ id, name, tenantId: tenant, scopes, createdAtMs }: ListedKey): ApiKeysView['keys'][number] => {
    const usedAtMs = settings?.keyUsedAtMs?.(id);
    const lastUsedAt = usedAtMs === undefined ? null : isoTime(usedAtMs);
    return { id, name, tenant, scopes: [...scopes], createdAt: isoTime(createdAtMs), lastUsedAt };
  };
  const listed = async (tenant: string): Promise<readonly ListedKey[]> =>
    (await keys.list()).filter((key) => tenant === DEFAULT_TENANT || key.tenantId === tenant);
  app.get(
    '/keys',
    about('keys:write', 'API keys, with their scopes and last use', { response: { 200: apiKeysView } }),
    async ({ principal }) => ({ keys: (await listed(principal.tenantId)).map(viewOf) }),
  );
  app.post(
    '/keys',
    {
      // The key itself is not stored for a repeat.
      config: { scope: 'keys:write', stored: (answer) => ({ ...newApiKeyView.parse(answer), key: null }) },
      schema: { summary: 'Make an API key, which is shown once', body: creation, response: { 201: newApiKeyView } },
    },
    async ({ principal, body: { name, scopes, tenant = principal.tenantId } }) => {
      if (tenant !== principal.tenantId && principal.tenantId !== DEFAULT_TENANT)
        throw new RequestRefused(403, 'Only the operator makes keys for other tenants.');
      const beyond = scopes.filter((scope) => !principal.scopes.includes(scope));
      if (beyond.length > 0) throw new RequestRefused(403, `You do not have these scopes yourself: ${beyond.join(', ')}.`);
      if ((await listed(tenant)).length >= MOST_KEYS)
        throw new RequestRefused(409, `There are ${MOST_KEYS} keys: revoke some first.`);
      const { secret, key } = await keys.create({ name, tenantId: tenant, scopes: [...new Set(scopes)] }, clock.wallMs());
      await audit?.add({
        by: principal.id,
        tenantId: principal.tenantId,
        action: 'api-key.create',
        subject: key.id,
        outcome: 'done',
      });
      return { ...viewOf(key), key: secret };
    },
  );
  app.delete(
    '/keys/:id',
    about('keys:write', 'Revoke an API key', {
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      response: { 200: z.object({ revoked: z.boolean() }) },
    }),
    async ({ principal, params: { id } }) => {
      const isOwn = (await listed(principal.tenantId)).some((key) => key.id === id);
      if (!isOwn || !(await keys.revoke(id))) throw new RequestRefused(404, 'There is no such key.');
      await audit?.add({
        by: principal.id,
        tenantId: principal.tenantId,
        action: 'api-key.revoke',
        subject: id,
        outcome: 'done',
      });
      return { revoked: true };
    },
  );
}
