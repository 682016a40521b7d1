import { z } from 'zod';
import { DEFAULT_TENANT } from '../../../config/tenant-id.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type SystemOrders } from '../api-app.ts';
import type { Principal } from './api-keys.ts';
import { campaignPaused, problemsOf } from './system-problems.ts';
import { systemView } from './system-views.ts';

/** Most paused campaigns examined. */
const MOST_CAMPAIGNS = 50;

const drainView = z.object({
  state: z.enum(['taking-calls', 'draining', 'drained']),
  /** Calls in progress. */
  live: z.int(),
});

/** The gateway's state, problems, and draining, over all tenants: served to the operator's keys only (the tenant `default`). */
export function systemRoutes(app: ApiApp, { system, campaigns, audit }: ApiDeps): void {
  if (system === undefined) return;
  app.get(
    '/system',
    about('system:read', 'How the gateway is now: what is wrong and what to do', { response: { 200: systemView } }),
    async ({ principal }) => {
      refuseTenant(principal);
      const state = await system.look();
      const problems = problemsOf(state, system.publicUrl);
      if (campaigns !== undefined && state.store.state === 'ok') {
        const page = await campaigns.campaigns.page(principal.tenantId, { state: 'paused', limit: MOST_CAMPAIGNS });
        problems.push(...page.campaigns.filter(({ changedBy }) => changedBy !== 'person').flatMap(campaignPaused));
      }
      return { ...state, problems };
    },
  );
  const response = { 200: drainView };
  const config = { scope: 'system:control', servesAgain: true } as const;
  /** A failed audit write does not stop it: a full disk is a reason to drain. */
  const audited = async ({ id: by, tenantId }: Principal, action: string, outcome: 'done' | 'refused'): Promise<void> => {
    const event = { by, tenantId, action, subject: 'gateway', outcome };
    await audit?.add(event).catch((error: unknown) => app.log.error({ ...event, error }, 'audit log write failed'));
  };
  app.post(
    '/system/drain',
    { config, schema: { summary: 'Take no new calls; live ones go on', body: z.strictObject({}).nullish(), response } },
    async ({ principal }) => {
      refuseTenant(principal);
      void system.callDrain.drain();
      await audited(principal, 'system.drain', 'done');
      return drainOf(system);
    },
  );
  app.delete(
    '/system/drain',
    { config, schema: { summary: 'Take calls again after a drain; refused once the gateway is stopping', response } },
    async ({ principal }) => {
      refuseTenant(principal);
      const done = system.callDrain.undo();
      await audited(principal, 'system.undo-drain', done ? 'done' : 'refused');
      if (!done) throw new RequestRefused(409, 'The gateway is stopping, so it takes no calls again.');
      return drainOf(system);
    },
  );
}

/** Refuses keys of other tenants than the operator's. @throws RequestRefused 403 */
export function refuseTenant({ tenantId }: Principal): void {
  if (tenantId === DEFAULT_TENANT) return;
  throw new RequestRefused(
    403,
    `The gateway is shared: only keys of its operator, the tenant ${DEFAULT_TENANT}, see and steer it.`,
  );
}

function drainOf({ callDrain: { state, live } }: SystemOrders): z.output<typeof drainView> {
  return { state, live };
}
