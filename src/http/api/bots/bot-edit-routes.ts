import { z } from 'zod';
import { BotVersionsError, revisionOf } from '../../../config/bot-versions.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, noting } from '../api-app.ts';
import { checkedDraft, DRAFT_BODY_BYTES, draftText, draftViewOf, editable, refuseOthers } from './bot-drafts.ts';
import { botOfTenant, graphView } from './bot-routes.ts';
import { hideAddresses, restoreAddresses } from './hidden-addresses.ts';
import { botSourceView, type BotVersionsView, botVersionsView, draftView, publishedView } from './bot-views.ts';

const named = z.strictObject({ name: z.string().min(1).max(63) });
const number = z.coerce.number().int().min(1).max(9_999);
/** Most versions that are listed. */
const MOST_LISTED = 500;

const publication = z.strictObject({
  text: draftText,
  /** `revision` of the source that the draft was made from. */
  base: z.string().regex(/^[0-9a-f]{12}$/u, 'the revision of GET /api/bots/{name}/source'),
  /** What changed, for the list of versions. */
  note: z.string().trim().max(500).default(''),
  /** Publishes for this share of new calls; for all when absent. */
  percent: z.int().min(1).max(99).optional(),
});

/** The source of bots, drafts, and published versions. */
export function botEditRoutes(app: ApiApp, { bots: orders, audit }: ApiDeps): void {
  const editing = orders?.editing;
  if (orders === undefined || editing === undefined) return;
  const noted = noting(audit);
  app.get(
    '/bots/:name/source',
    about('bots:write', 'The file of a bot, or one of its versions, as it is written', {
      params: named,
      querystring: z.strictObject({ version: number.optional() }),
      response: { 200: botSourceView },
    }),
    async ({ principal, params: { name }, query: { version } }) => {
      const bot = botOfTenant(orders, principal, name);
      const text = refusing(() => (version === undefined ? editing.source(bot) : editing.versionText(bot, version)));
      if (text === undefined) throw new RequestRefused(404, `There is no version ${version}.`);
      const [readOnly, check] = await Promise.all([editing.readOnly(bot), editing.check(bot, text, true)]);
      const { problems } = await draftViewOf(check, principal, bot, text);
      return { text: hideAddresses(text), revision: revisionOf(text), readOnly: readOnly ?? null, problems };
    },
  );
  app.post(
    '/bots/:name/check',
    {
      config: { scope: 'bots:write', servesAgain: true },
      bodyLimit: DRAFT_BODY_BYTES,
      schema: {
        summary: 'Check a draft of a bot’s file as a reload would; quick leaves out voices, sounds and other bots',
        params: named,
        body: z.strictObject({ text: draftText, quick: z.boolean().default(false) }),
        response: { 200: draftView },
      },
    },
    async ({ principal, params: { name }, body: { text: sent, quick } }) => {
      const bot = botOfTenant(orders, principal, name);
      const text = refusing(() => restoreAddresses(sent, editing.source(bot)));
      const check = await asRefusal(editing.check(bot, text, quick));
      const { graph } = check.bot === undefined ? {} : await orders.outlineOf(check.bot);
      const view = await draftViewOf(check, principal, bot, text);
      return { ...view, graph: graph === undefined ? null : graphView(graph, principal) };
    },
  );
  app.get(
    '/bots/:name/versions',
    about('bots:read', 'Published versions of a bot, newest first', { params: named, response: { 200: botVersionsView } }),
    async ({ principal, params: { name } }): Promise<BotVersionsView> => {
      const bot = botOfTenant(orders, principal, name);
      if (bot.file === undefined) return { versions: [], current: null, share: null };
      const { versions, current, share } = refusing(() => editing.versions(bot));
      const listed = versions.slice(-MOST_LISTED).reverse();
      return { versions: listed, current: current?.number ?? null, share: share ?? null };
    },
  );
  app.post(
    '/bots/:name/versions',
    {
      config: { scope: 'bots:write' },
      bodyLimit: DRAFT_BODY_BYTES,
      schema: {
        summary: 'Publish a draft as a new version, for all new calls or for a share of them',
        params: named,
        body: publication,
        response: { 201: publishedView },
      },
    },
    async ({ principal, params: { name }, body }) => {
      const bot = botOfTenant(orders, principal, name);
      const edits = await editable(orders, bot);
      const source = refusing(() => edits.source(bot));
      const { base, note, percent } = body;
      if (revisionOf(source) !== base) throw changed();
      const text = restoreAddresses(body.text, source);
      const { draft, others } = await checkedDraft(edits, principal, bot, text);
      refuseOthers(others, principal);
      const publishing = edits.publish(bot, { text, base, note, percent, id: draft.version ?? '', author: principal.id });
      const { number: version, problems } = await asRefusal(publishing);
      await noted(principal, 'bot.publish', `${name} version ${version}`);
      return { version, reload: [...problems] };
    },
  );
  app.post(
    '/bots/:name/rollback',
    about('bots:write', 'Have new calls get an earlier version again', {
      params: named,
      body: z.strictObject({ version: number }),
      response: { 200: publishedView },
    }),
    async ({ principal, params: { name }, body: { version } }) => {
      const bot = botOfTenant(orders, principal, name);
      const edits = await editable(orders, bot);
      const text = refusing(() => edits.versionText(bot, version));
      if (text === undefined) throw new RequestRefused(404, `There is no version ${version}.`);
      refuseOthers((await checkedDraft(edits, principal, bot, text)).others, principal);
      const problems = await asRefusal(edits.restore(bot, version, principal.id));
      await noted(principal, 'bot.rollback', `${name} version ${version}`);
      return { version, reload: [...problems] };
    },
  );
  app.put(
    '/bots/:name/share',
    about({ scope: 'bots:write', servesAgain: true }, 'Give a version a share of new calls; 0 ends that', {
      params: named,
      body: z.strictObject({ version: number, percent: z.int().min(0).max(99) }),
      response: { 200: publishedView },
    }),
    async ({ principal, params: { name }, body: { version, percent } }) => {
      const bot = botOfTenant(orders, principal, name);
      const edits = await editable(orders, bot);
      const text = refusing(() => edits.versionText(bot, version));
      if (text === undefined) throw new RequestRefused(404, `There is no version ${version}.`);
      if (percent > 0) await checkedDraft(edits, principal, bot, text);
      const problems = await asRefusal(edits.share(bot, version, percent));
      await noted(principal, 'bot.share', `${name} version ${version}, ${percent} %`);
      return { version, reload: [...problems] };
    },
  );
}

function changed(): RequestRefused {
  return new RequestRefused(409, 'The file was changed since this draft was begun: load it again, and change it anew.');
}

function refusing<Value>(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw refusalOf(error);
  }
}

async function asRefusal<Value>(running: Promise<Value>): Promise<Value> {
  try {
    return await running;
  } catch (error) {
    throw refusalOf(error);
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof BotVersionsError)) return error;
  if (error.reason === 'changed') return changed();
  return new RequestRefused(error.reason === 'unknown' ? 404 : 409, `${error.message}.`, { cause: error });
}
