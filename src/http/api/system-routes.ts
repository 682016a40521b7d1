import type { ApiApp, ApiDeps } from './api-app.ts';
import { campaignPaused, problemsOf } from './system-problems.ts';
import { systemView } from './system-views.ts';

/** How many paused campaigns are looked at. */
const MOST_CAMPAIGNS = 50;

/** How the gateway is, and what is wrong with it. */
export function systemRoutes(app: ApiApp, { system, campaigns }: ApiDeps): void {
  if (system === undefined) return;
  app.get(
    '/system',
    {
      config: { scope: 'system:read' },
      schema: { summary: 'How the gateway is now: what is wrong and what to do', response: { 200: systemView } },
    },
    async ({ principal }) => {
      const state = await system.look();
      const problems = problemsOf(state, system.publicUrl);
      if (campaigns !== undefined && state.store.state === 'ok') {
        const page = await campaigns.campaigns.page(principal.tenantId, { state: 'paused', limit: MOST_CAMPAIGNS });
        problems.push(...page.campaigns.filter(({ changedBy }) => changedBy !== 'person').flatMap(campaignPaused));
      }
      return { ...state, problems };
    },
  );
}
