import { z } from 'zod';
import { botsOfTenant } from '../../../config/bots.ts';
import { DEFAULT_TENANT } from '../../../config/tenant-id.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, noting } from '../api-app.ts';
import { shownText } from '../bots/bot-views.ts';
import type { Principal } from '../system/api-keys.ts';
import { numbersFor } from '../views.ts';
import { carriersView, checksView } from './settings-views.ts';

/** All checks together. */
const CHECKS_WITHIN_MS = 120_000;

/** Carriers and numbers of the gateway: served to the operator alone (the tenant `default`). */
export function settingRoutes(app: ApiApp, { settings, bots: orders, audit, clock }: ApiDeps): void {
  if (settings === undefined) return;
  const noted = noting(audit);
  app.get(
    '/carriers',
    about('settings:read', 'Carriers, and the numbers that bots answer', { response: { 200: carriersView } }),
    async ({ principal }) => {
      refuseTenant(principal);
      const own = botsOfTenant(orders?.bots() ?? [], principal.tenantId);
      const shown = numbersFor(principal);
      return {
        carriers: settings.carriers().map((carrier) => ({ ...carrier, needs: [...carrier.needs] })),
        numbers: own.flatMap(({ name: bot, numbers }) => numbers.map((number) => ({ number: shown(number), bot }))),
        defaultBot: own.find((bot) => bot.default)?.name ?? null,
        hasChecks: settings.check !== undefined,
      };
    },
  );
  const { check } = settings;
  if (check === undefined) return;
  let isChecking = false;
  app.post(
    '/checks',
    {
      config: { scope: 'settings:write', servesAgain: true },
      schema: {
        summary: 'Check settings, data folder, stores, carriers and the bots’ servers, as offhook doctor does',
        body: z.strictObject({}).nullish(),
        response: { 200: checksView },
      },
    },
    async ({ principal }) => {
      refuseTenant(principal);
      if (isChecking) throw new RequestRefused(409, 'Checks run already: wait for them.');
      isChecking = true;
      const limit = new AbortController();
      const timer = clock.after(CHECKS_WITHIN_MS, () => limit.abort(new Error('the checks took too long')));
      try {
        const checks = await check(limit.signal);
        await noted(principal, 'system.check', 'gateway');
        return {
          checks: checks.map(({ detail, advice, ...facts }) => ({
            ...facts,
            detail: shownText(detail, principal),
            advice: advice === undefined ? null : shownText(advice, principal),
          })),
        };
      } finally {
        timer.cancel();
        isChecking = false;
      }
    },
  );
}

/** @throws RequestRefused 403 for a key of a tenant */
export function refuseTenant({ tenantId }: Principal): void {
  if (tenantId === DEFAULT_TENANT) return;
  throw new RequestRefused(403, `The gateway is shared: only its operator, the tenant ${DEFAULT_TENANT}, sees its settings.`);
}
