import { Readable } from 'node:stream';
import { z } from 'zod';
import { campaignSettings, DEFAULT_RETRIES } from '../../../outbound/campaign.ts';
import { CONTACT_COLUMNS, contactCells, contactsOf } from '../../../outbound/report.ts';
import type { LoggedDecision } from '../../../outbound/gate/chain.ts';
import type { DayWindow } from '../../../outbound/gate/local-time.ts';
import { csvLines } from '../../../records/analysis/table.ts';
import { CALL_ID } from '../../../kernel/ids.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type CampaignOrders } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime, optionalTime } from '../views.ts';
import { campaignOf, namedCampaign } from './campaign-routes.ts';
import { choicesView, decisionView, hoursView, progressView, viewOfContact, viewOfProgress } from './campaign-views.ts';
import { mayChooseRules } from '../dial-rules.ts';

const DAY_MS = 86_400_000;
const STEP_MINUTES = 15;
const STEPS = 96;
/** CSV rows written at once. */
const ROWS_AT_ONCE = 500;
/** Most rows of the map of hours. */
const MOST_ROWS = 40;

/** Progress of campaigns, available choices, and each contact's history. */
export function campaignProgressRoutes(app: ApiApp, { campaigns: orders, store, clock }: ApiDeps): void {
  if (orders === undefined) return;
  const { control, contacts, audit } = orders;

  app.get(
    '/campaigns/choices',
    about(
      'campaigns:read',
      'What a campaign can be made with: bots, caller ids, dialling profiles, and the form of its settings',
      { response: { 200: choicesView } },
    ),
    async ({ principal }) => choicesOf(orders, principal),
  );
  app.get(
    '/campaigns/:id/progress',
    about('campaigns:read', 'All that changes while a campaign runs: contacts, people reached, refusals, and calls by time', {
      params: namedCampaign,
      response: { 200: progressView },
    }),
    async ({ principal: { tenantId }, params }) => {
      const campaign = await campaignOf(control, tenantId, params.id);
      return viewOfProgress(campaign, await control.progress(campaign));
    },
  );
  app.get(
    '/campaigns/:id/hours',
    about('campaigns:read', 'Who of those that are still to be called may be called when, for a day in steps of 15 minutes', {
      params: namedCampaign,
      querystring: z.strictObject({
        /** Start of the UTC day when absent. */
        from: z.iso.datetime({ offset: true }).optional(),
      }),
      response: { 200: hoursView },
    }),
    async ({ principal: { tenantId }, params, query }) => {
      const campaign = await campaignOf(control, tenantId, params.id);
      const fromMs = query.from === undefined ? Math.floor(clock.wallMs() / DAY_MS) * DAY_MS : Date.parse(query.from);
      const question = { fromMs, stepMs: STEP_MINUTES * 60_000, steps: STEPS };
      const { rows, sampled, open } = await control.hours(campaign, question);
      return {
        from: isoTime(fromMs),
        stepMinutes: STEP_MINUTES,
        sampled,
        open,
        rows: rows.slice(0, MOST_ROWS).map(({ open: steps, opensAtMs, ...row }) => ({
          ...row,
          steps: steps.map((isOpen) => (isOpen ? '1' : '0')).join(''),
          opensAt: optionalTime(opensAtMs),
        })),
      };
    },
  );
  app.get(
    '/campaigns/:id/results',
    about('campaigns:read', 'Every contact with what came of it, as CSV; numbers are masked without numbers:read', {
      params: namedCampaign,
      response: { 200: { content: { 'text/csv': { schema: z.unknown() } } } },
    }),
    async ({ principal, params, signal }, reply) => {
      const campaign = await campaignOf(control, principal.tenantId, params.id);
      const { id: by, tenantId } = principal;
      await audit.add({ by, tenantId, action: 'campaign.export', subject: campaign.id, outcome: 'done' });
      async function* lines(): AsyncGenerator<string> {
        let rows: string[][] = [CONTACT_COLUMNS];
        for await (const contact of contactsOf(contacts, campaign)) {
          signal.throwIfAborted();
          const { number, variables } = viewOfContact(contact, principal);
          rows.push(contactCells({ ...contact, number, variables }));
          if (rows.length < ROWS_AT_ONCE) continue;
          yield csvLines(rows);
          rows = [];
        }
        if (rows.length > 0) yield csvLines(rows);
      }
      return reply
        .type('text/csv; charset=utf-8; header=present')
        .header('content-disposition', `attachment; filename="campaign-${campaign.id}-contacts.csv"`)
        .send(Readable.from(lines()));
    },
  );
  app.get(
    '/attempts/:attemptId/decision',
    about('calls:read', 'Why the dial gate allowed or refused an outbound call: its rule, and the person’s clock', {
      params: z.strictObject({ attemptId: z.string().regex(CALL_ID) }),
      response: { 200: decisionView },
    }),
    async ({ principal: { tenantId }, params }) => {
      const attempt = await store.attempts.get(tenantId, params.attemptId);
      const entry = attempt && (await store.attempts.decision(tenantId, attempt.decisionSequence));
      if (entry === undefined) throw new RequestRefused(404, 'There is no such attempt.');
      const { allowed, refusals, detail, retryAtMs, profile, overlays, local } = entry.body as LoggedDecision; // In the form that `loggedDecision` writes.
      const retryAt = retryAtMs === null ? null : isoTime(retryAtMs);
      return { at: isoTime(entry.atMs), allowed, refusals, detail, retryAt, profile, overlays, local };
    },
  );
}

function choicesOf({ control, settings }: CampaignOrders, principal: Principal): z.output<typeof choicesView> {
  const { bots, callerIds, carriers, profiles } = control.means(principal.tenantId);
  const names = profiles.names.filter((name) => name === settings.profile || mayChooseRules(principal));
  return {
    bots,
    callerIds: callerIds.map(({ number, isSeries, carrier = null }) => ({ number, isSeries, carrier })),
    carriers,
    profiles: names.flatMap((name) => {
      const profile = profiles.named(name);
      if (profile === undefined) return [];
      const { notice, countries = null, purposes, purposeRequired, registrations, windows } = profile;
      return [
        {
          name,
          notice,
          countries,
          purposes,
          purposeRequired: purposeRequired !== undefined,
          registrations: registrations.map((rule) => ({ name: rule.name, purposes: rule.purposes ?? null })),
          windows: windows.map((rule) => ({
            purposes: rule.purposes ?? null,
            hours: rule.hours.map(hoursText),
            source: rule.source,
          })),
        },
      ];
    }),
    defaults: { profile: settings.profile, region: settings.defaultRegion ?? null },
    most: { callsPerSecond: settings.callsPerSecond, concurrency: settings.concurrency },
    retries: DEFAULT_RETRIES,
    schema: (schema ??= z.toJSONSchema(campaignSettings, { io: 'input', unrepresentable: 'any' })),
  };
}

let schema: unknown;

function hoursText({ days, fromMinute, toMinute }: DayWindow) {
  const clock = (minute: number): string =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  return { days, from: clock(fromMinute), to: clock(toMinute) };
}
