import { Readable } from 'node:stream';
import { z } from 'zod';
import { type Campaign, campaignRef, readCampaign, type WrittenSettings } from '../../../outbound/campaign.ts';
import {
  type CampaignChange,
  type CampaignControl,
  CampaignNotReadyError,
  CampaignStateError,
} from '../../../outbound/campaign-control.ts';
import type { ImportReport } from '../../../outbound/contacts/import-contacts.ts';
import {
  type ContactColumn,
  type ContactRow,
  ContactsFileError,
  readContactList,
} from '../../../outbound/contacts/read-contacts.ts';
import { readContactsFile } from '../../../outbound/contacts/read-json-lines.ts';
import { isRegion, readNumber } from '../../../outbound/number.ts';
import { reportTable } from '../../../outbound/report.ts';
import { isTimeZone } from '../../../config/time-zone.ts';
import { csvLines } from '../../../records/analysis/table.ts';
import type { AuditEvent } from '../../../records/retention/audit-log.ts';
import { readFileParts } from '../../../kernel/file-streams.ts';
import { CAMPAIGN_STATES, CONTACT_STATES } from '../../../records/campaigns.ts';
import { DISPOSITIONS } from '../../../records/dialling.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type CampaignOrders } from '../api-app.ts';
import { attemptPageView, viewOfAttempt } from '../calls/call-views.ts';
import type { Principal } from '../system/api-keys.ts';
import { rulesOf } from '../dial-rules.ts';
import { numbersFor, optionalTime, textsFor } from '../views.ts';
import {
  campaignBody,
  campaignDetailView,
  campaignItemView,
  contactsBody,
  contactView,
  erasureView,
  importView,
  reportView,
  viewOfCampaign,
  viewOfContact,
  viewOfCounts,
  viewOfProblem,
} from './campaign-views.ts';

export const namedCampaign = z.strictObject({ id: z.string().min(1).max(100) });
const named = namedCampaign;
const limit = (most: number) => z.coerce.number().int().min(1).max(most).default(50);
const disposition = z.enum(DISPOSITIONS);
const LIST_BYTES = 16_777_216;
const MINUTE_MS = 60_000;
const NO_CONTACTS = { contacts: 0, states: { pending: 0, leased: 0, waiting: 0, done: 0 }, dispositions: {} };
/** Contacts shown for a dry run. */
const MOST_SHOWN = 5;
const column = z.string().min(1).max(100).optional();

/** Campaigns: create, add contacts, start, pause, stop, read, report, erase. Each change is written to the audit log. */
export function campaignRoutes(app: ApiApp, deps: ApiDeps): void {
  if (deps.campaigns === undefined) return;
  const parts = partsOf(deps, deps.campaigns);
  recordRoutes(app, parts);
  contactRoutes(app, parts);
  resultRoutes(app, parts);
}

/** What these routes share. */
function partsOf({ clock }: ApiDeps, orders: CampaignOrders) {
  const { control, audit } = orders;
  const known = ({ tenantId }: Principal, id: string): Promise<Campaign> => campaignOf(control, tenantId, id);
  const detailOf = async (campaign: Campaign): Promise<z.output<typeof campaignDetailView>> => ({
    ...viewOfCampaign(campaign),
    contacts: viewOfCounts(await control.counts(campaign)),
    missing: campaign.endedAtMs === undefined ? [...(await control.missing(campaign))] : [],
    settings: campaign.settings,
  });
  const audited = async <Value>({ id: by, tenantId }: Principal, act: string, subject: string, run: () => Promise<Value>) => {
    const event = { by, tenantId, action: `campaign.${act}`, subject };
    const note = (outcome: AuditEvent['outcome']): Promise<void> => audit.add({ ...event, outcome });
    try {
      const value = await run();
      await note('done');
      return value;
    } catch (error) {
      const isRefused = error instanceof CampaignStateError || error instanceof CampaignNotReadyError;
      await note(isRefused ? 'refused' : 'failed');
      throw isRefused ? new RequestRefused(409, error.message) : error;
    }
  };
  return { orders, clock, control, audit, known, detailOf, audited };
}
type Parts = ReturnType<typeof partsOf>;

/** Campaigns themselves: create, read, change their state, erase. */
function recordRoutes(app: ApiApp, { orders, clock, control, audit, known, detailOf, audited }: Parts): void {
  app.post(
    '/campaigns',
    about('campaigns:write', 'Make a campaign; it calls nobody before it is started', {
      body: campaignBody,
      response: { 201: campaignDetailView },
    }),
    async ({ principal, sent }, reply) => {
      // As sent: the schema that accepted it converts hours into minutes.
      const written = sent[0] as WrittenSettings;
      const rules = rulesOf(orders.settings, principal, written);
      const campaign = await control.create(principal.tenantId, { ...written, ...rules }, principal.id);
      await audit.add({
        by: principal.id,
        tenantId: principal.tenantId,
        action: 'campaign.create',
        subject: campaign.id,
        outcome: 'done',
      });
      reply.header('location', `/api/campaigns/${campaign.id}`);
      return detailOf(campaign);
    },
  );
  app.get(
    '/campaigns',
    about('campaigns:read', 'Campaigns, newest first', {
      querystring: z.strictObject({
        state: z.enum(CAMPAIGN_STATES).optional(),
        limit: limit(200),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: z.object({ campaigns: z.array(campaignItemView), next: z.string().nullable() }) },
    }),
    async ({ principal, query: { state, limit: most, cursor } }) => {
      const { tenantId } = principal;
      const page = await orders.campaigns.page(tenantId, { limit: most, before: cursor, state });
      const ids = page.campaigns.map(({ id }) => id);
      const counts = await control.countsOf(tenantId, ids);
      const toMs = clock.wallMs();
      const lastMinute = { campaignIds: ids, fromMs: toMs - MINUTE_MS, toMs, everyMs: MINUTE_MS };
      const placed = new Map((await orders.attempts.placed(tenantId, lastMinute)).map((each) => [each.campaignId, each.placed]));
      const campaigns = await Promise.all(
        page.campaigns.map(async (stored) => ({
          ...viewOfCampaign(readCampaign(stored)),
          contacts: viewOfCounts(counts.get(stored.id) ?? NO_CONTACTS),
          placedLastMinute: placed.get(stored.id) ?? 0,
          nextDueAt: optionalTime(await control.nextDueAtMs(readCampaign(stored))),
        })),
      );
      return { campaigns, next: page.next ?? null };
    },
  );
  app.get(
    '/campaigns/:id',
    about('campaigns:read', 'A campaign, how its contacts stand, and what it lacks', {
      params: named,
      response: { 200: campaignDetailView },
    }),
    async ({ principal, params }) => detailOf(await known(principal, params.id)),
  );
  const change = (act: CampaignChange, summary: string): void => {
    app.post(
      `/campaigns/:id/${act}`,
      about('campaigns:write', summary, {
        params: named,
        /** Shown with the campaign's state. */
        body: z.strictObject({ reason: z.string().trim().min(1).max(200).optional() }),
        response: { 200: campaignDetailView },
      }),
      async ({ principal, params, body: { reason } }) => {
        const campaign = await known(principal, params.id);
        return detailOf(await audited(principal, act, campaign.id, () => control.change(campaign, act, reason)));
      },
    );
  };
  change('start', 'Begin to call; refused with everything that is missing');
  change('pause', 'Begin no further call; calls under way go on');
  change('resume', 'Go on calling');
  change('stop', 'End the campaign for good: contacts that were not reached are cancelled');
  app.delete(
    '/campaigns/:id',
    about(
      'campaigns:write',
      'Stop a campaign and destroy the personal data of its contacts and calls; the numbers of its report stay',
      { params: named, response: { 200: erasureView } },
    ),
    async ({ principal, params }) => {
      const campaign = await known(principal, params.id);
      return audited(principal, 'erase', campaign.id, () => control.erase(campaign));
    },
  );
}

/** Contacts: add and list. */
function contactRoutes(app: ApiApp, { orders, control, known, audited }: Parts): void {
  app.post(
    '/campaigns/:id/contacts',
    {
      bodyLimit: LIST_BYTES,
      ...about(
        { scope: 'campaigns:write', takesUploads: 'contacts', stored: withoutProblems },
        'Add contacts: CSV or JSON Lines as the body or in a form, or a list of up to 10,000 as JSON; numbers that it has are not added again',
        {
          params: named,
          querystring: z.strictObject({
            /** ISO 3166 code of numbers without `+`; the setting `dialling.defaultRegion` when absent. */
            region: z.string().refine(isRegion, 'a region such as IN').optional(),
            /** Columns of a file. */
            numberColumn: column,
            zoneColumn: column,
            encoding: z.enum(['utf-8', 'windows-1252']).optional(),
            /** Renames variables of a file: `due_date:appointment,notes:` renames one and drops one. */
            variables: z.string().max(5_000).transform(readRenames).optional(),
            /** Adds no contacts, and reports what would happen. */
            dryRun: z.stringbool().optional(),
          }),
          body: contactsBody,
          response: { 200: importView },
        },
      ),
    },
    async ({ principal, params, query: { region, dryRun = false, ...columns }, body }) => {
      const campaign = await known(principal, params.id);
      const options = { tenantId: principal.tenantId, defaultRegion: region ?? orders.settings.defaultRegion };
      const preview = new ImportPreview(principal);
      const rows =
        'file' in body
          ? readContactsFile(readFileParts(body.file.path), { ...options, ...columns, onColumns: preview.onColumns })
          : readContactList(body.contacts, options);
      const add = (): Promise<ImportReport> => control.addContacts(campaign, preview.of(rows), dryRun);
      try {
        const report = await (dryRun ? add() : audited(principal, 'contacts', campaign.id, add));
        const problems = report.problems.map((problem) => viewOfProblem(problem, principal));
        return { ...report, problems, ...(dryRun ? { preview: preview.view } : {}) };
      } catch (error) {
        throw error instanceof ContactsFileError ? new RequestRefused(400, error.message) : error;
      }
    },
  );
  app.get(
    '/campaigns/:id/contacts',
    about('campaigns:read', 'Contacts in the order of their addition', {
      params: named,
      querystring: z.strictObject({
        state: z.enum(CONTACT_STATES).optional(),
        disposition: disposition.optional(),
        /** Complete number; requires the scope `numbers:read`. */
        number: z.string().min(1).max(100).optional(),
        limit: limit(1000),
        cursor: z.coerce.number().int().min(0).optional(),
      }),
      response: { 200: z.object({ contacts: z.array(contactView), next: z.string().nullable() }) },
    }),
    async ({ principal, params, query: { limit: most, cursor: after, number: given, ...filters } }) => {
      const campaign = await known(principal, params.id);
      if (given !== undefined && !principal.scopes.includes('numbers:read'))
        throw new RequestRefused(403, 'Who looks for a number needs the scope numbers:read.');
      // An unescaped plus sign in an address arrives as a blank.
      const read = given === undefined ? undefined : readNumber(given.replace(/^ /u, '+'), orders.settings.defaultRegion);
      if (read !== undefined && 'reason' in read) throw new RequestRefused(400, `number: ${read.reason}.`);
      const page = await orders.contacts.page(campaignRef(campaign), { ...filters, number: read?.e164, limit: most, after });
      const contacts = page.contacts.map((contact) => viewOfContact(contact, principal));
      return { contacts, next: page.next === undefined ? null : String(page.next) };
    },
  );
}

/** What came of the calls. */
function resultRoutes(app: ApiApp, { orders, control, known }: Parts): void {
  app.get(
    '/campaigns/:id/attempts',
    about('campaigns:read', 'Its calls, refused ones included, newest first', {
      params: named,
      querystring: z.strictObject({
        disposition: disposition.optional(),
        /** For refused calls: the name of the refusal. */
        cause: z.string().min(1).max(100).optional(),
        contact: z.string().min(1).max(100).optional(),
        limit: limit(200),
        cursor: z.string().max(500).optional(),
      }),
      response: { 200: attemptPageView },
    }),
    async ({ principal, params, query: { limit: most, cursor: before, contact: contactId, ...filters } }) => {
      const { tenantId, id: campaignId } = await known(principal, params.id);
      const page = await orders.attempts.page(tenantId, { ...filters, campaignId, contactId, limit: most, before });
      return { attempts: page.attempts.map((attempt) => viewOfAttempt(attempt, principal)), next: page.next ?? null };
    },
  );
  app.get(
    '/campaigns/:id/report',
    about('campaigns:read', 'What came of it by day, hour, bot, caller id and outcome, as JSON or CSV', {
      params: named,
      querystring: z.strictObject({
        format: z.enum(['json', 'csv']).default('json'),
        /** Time zone of days and hours; the campaign’s `defaultZone`, else UTC. */
        zone: z.string().refine(isTimeZone, 'a time zone such as Asia/Kolkata').optional(),
      }),
      response: { 200: { content: { 'application/json': { schema: reportView }, 'text/csv': { schema: z.unknown() } } } },
    }),
    async ({ principal, params, query: { format, zone } }, reply) => {
      const report = await control.report(await known(principal, params.id), zone);
      if (format === 'json') return reply.type('application/json; charset=utf-8').send(report);
      return reply
        .type('text/csv; charset=utf-8; header=present')
        .header('content-disposition', `attachment; filename="campaign-${report.campaign.id}.csv"`)
        .send(Readable.from([csvLines(reportTable(report))]));
    },
  );
}

/** Reasons of bad rows may quote the file. */
function withoutProblems(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null ? { ...answer, problems: [], preview: undefined } : answer;
}

/** @throws RequestRefused 404 */
export async function campaignOf(control: CampaignControl, tenantId: string, id: string): Promise<Campaign> {
  const campaign = await control.get(tenantId, id);
  if (campaign === undefined) throw new RequestRefused(404, 'There is no such campaign.');
  return campaign;
}

/** Parses `column:name,column:` into names by column. */
function readRenames(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.split(':'));
  return Object.fromEntries(pairs.flatMap(([column = '', name = '']) => (column.trim() === '' ? [] : [[column, name]])));
}

/** Collects columns and first contacts while an import is read. */
class ImportPreview {
  readonly view: NonNullable<z.output<typeof importView>['preview']> = { columns: [], contacts: [] };
  readonly #principal: Principal;

  constructor(principal: Principal) {
    this.#principal = principal;
  }

  readonly onColumns = (columns: readonly ContactColumn[]): void => void this.view.columns.push(...columns);

  async *of(rows: AsyncIterable<ContactRow> | Iterable<ContactRow>): AsyncGenerator<ContactRow> {
    for await (const row of rows) {
      if (row.kind === 'contact' && this.view.contacts.length < MOST_SHOWN) this.view.contacts.push(this.#shown(row));
      yield row;
    }
  }

  #shown({ line, contact }: Extract<ContactRow, { kind: 'contact' }>): ImportPreview['view']['contacts'][number] {
    const { e164 } = contact.number;
    const masked = textsFor([e164], this.#principal);
    return {
      line,
      number: numbersFor(this.#principal)(e164),
      zone: contact.timeZone ?? null,
      variables: Object.fromEntries(Object.entries(contact.variables).map(([name, value]) => [name, masked(value)])),
    };
  }
}
