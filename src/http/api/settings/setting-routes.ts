import { z } from 'zod';
import { botsOfTenant } from '../../../config/bots.ts';
import { ROLES } from '../../../config/console-roles.ts';
import { DEFAULT_TENANT } from '../../../config/tenant-id.ts';
import { SCOPES_OF } from '../../session/session-views.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { shownText } from '../bots/bot-views.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime, numbersFor } from '../views.ts';
import { carriersView, checksView, invitationView, type MembersView, membersView } from './settings-views.ts';

/** Sign-ins that are looked through, and people that are shown. */
const MOST_SIGN_INS = 200;
const MOST_SEEN = 50;
/** All checks together. */
const CHECKS_WITHIN_MS = 120_000;

/** Members, carriers and numbers of the gateway: served to the operator alone (the tenant `default`). */
export function settingRoutes(app: ApiApp, { settings, bots: orders, audit, clock }: ApiDeps): void {
  if (settings === undefined) return;
  const noted = async ({ id: by, tenantId }: Principal, action: string, subject: string): Promise<void> =>
    audit?.add({ by, tenantId, action, subject, outcome: 'done' });
  const { members } = settings;
  if (members !== undefined) {
    app.get(
      '/members',
      about('settings:read', 'How people get into the console, what each role may do, and who came lately', {
        response: { 200: membersView },
      }),
      async ({ principal }) => {
        refuseTenant(principal);
        const { ways, openid } = members;
        const roles = ROLES.map((role) => ({ role, scopes: [...SCOPES_OF[role]] }));
        return {
          ways: [...ways],
          openid: openid === undefined ? null : { ...openid, roles: [...openid.roles].map(([value, role]) => ({ value, role })) },
          roles,
          seen: principal.scopes.includes('audit:read') ? await seenIn(audit, principal.tenantId) : [],
        };
      },
    );
    app.post(
      '/members/links',
      {
        // The link is not stored for a repeat.
        config: { scope: 'settings:write', stored: (answer) => ({ ...invitationView.parse(answer), path: null }) },
        schema: {
          summary: 'Make a link that signs a person in, once',
          body: z.strictObject({ name: z.string().trim().min(1).max(60), role: z.enum(ROLES) }),
          response: { 201: invitationView },
        },
      },
      async ({ principal, body: { name, role } }) => {
        refuseTenant(principal);
        if (SCOPES_OF[role].some((scope) => !principal.scopes.includes(scope)))
          throw new RequestRefused(403, `The role ${role} may do more than you.`);
        const { code, untilMs } = await members.invite({ name, role });
        await noted(principal, 'member.invite', `${name} as ${role}`);
        return { path: `/console#code=${code}`, expiresAt: isoTime(untilMs) };
      },
    );
  }
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

/** People of the console who signed in lately. */
async function seenIn(audit: ApiDeps['audit'], tenantId: string): Promise<MembersView['seen']> {
  const page = await audit?.page(
    (line) => line.tenantId === tenantId && line.action === 'session.sign-in' && line.outcome === 'done',
    {
      limit: MOST_SIGN_INS,
    },
  );
  const seen = new Map<string, MembersView['seen'][number]>();
  for (const { by, subject: way, at } of page?.lines ?? []) {
    const name = by.replace(/^console /u, '');
    if (!seen.has(name)) seen.set(name, { name, way, at });
  }
  return [...seen.values()].slice(0, MOST_SEEN);
}

/** @throws RequestRefused 403 */
export function refuseTenant({ tenantId }: Principal): void {
  if (tenantId === DEFAULT_TENANT) return;
  throw new RequestRefused(403, `The gateway is shared: only its operator, the tenant ${DEFAULT_TENANT}, sees its settings.`);
}
