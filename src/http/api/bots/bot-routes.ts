import { resolve } from 'node:path';
import { z } from 'zod';
import { type Bot, botsOfTenant } from '../../../config/bots.ts';
import type { Problem } from '../../../config/problem.ts';
import { DEFAULT_TENANT } from '../../../config/tenant-id.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type BotOrders } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { type BotView, botListView, botView, placeOf, problemView, settingsView, shownText } from './bot-views.ts';
import { isoTime, numbersFor } from '../views.ts';

const named = z.strictObject({ name: z.string().min(1).max(63) });

/** Bots of this gateway: problems in their files, statistics, and chats. */
export function botRoutes(app: ApiApp, { bots: orders }: ApiDeps): void {
  if (orders === undefined) return;
  app.get(
    '/bots',
    about('bots:read', 'Bots that new calls get, and what is wrong with their files', { response: { 200: botListView } }),
    async ({ principal }) => {
      const all = orders.bots();
      const bots = botsOfTenant(all, principal.tenantId);
      const files = await orders.files();
      const owners = files.problems.map((problem) => ({ problem, owner: ownerOf(problem, all) }));
      // A file without a known owner is shown to the operator.
      const isOperator = principal.tenantId === DEFAULT_TENANT;
      const lost = owners.flatMap(({ problem, owner }) => (owner === undefined && isOperator ? [problem] : []));
      return {
        bots: await Promise.all(bots.map((bot) => summaryOf(orders, bot, files, principal))),
        problems: await Promise.all(lost.map((problem) => problemView(problem, principal))),
        lastReload: reloadOf(orders, principal),
      };
    },
  );
  app.get(
    '/bots/:name',
    about('bots:read', 'One bot: its settings, its problems, and a flow as a graph', {
      params: named,
      response: { 200: botView },
    }),
    async ({ principal, params: { name } }) => {
      const bot = botOfTenant(orders, principal, name);
      const summary = await summaryOf(orders, bot, await orders.files(), principal);
      const { graph } = await orders.outlineOf(bot);
      return {
        ...summary,
        settings: settingsView(bot, principal),
        graph: graph === undefined ? null : graphView(graph, principal),
        lastReload: reloadOf(orders, principal),
      };
    },
  );
}

/** @throws RequestRefused 404, also for a bot of another tenant */
export function botOfTenant(orders: Pick<BotOrders, 'bots'>, { tenantId }: Pick<Principal, 'tenantId'>, name: string): Bot {
  const bot = botsOfTenant(orders.bots(), tenantId).find((each) => each.name === name);
  if (bot === undefined) throw new RequestRefused(404, 'There is no such bot.');
  return bot;
}

async function summaryOf(
  orders: BotOrders,
  bot: Bot,
  files: Awaited<ReturnType<BotOrders['files']>>,
  principal: Principal,
): Promise<Omit<BotView, 'settings' | 'graph' | 'lastReload'>> {
  const { languages, greeting } = await orders.outlineOf(bot);
  const mine = files.problems.filter((problem) => ownerOf(problem, [bot]) !== undefined);
  const onDisk = files.bots.find(({ name }) => name === bot.name);
  const isBroken = mine.some(({ severity }) => severity === undefined);
  const isNew = !isBroken && onDisk !== undefined && onDisk.version !== bot.version;
  return {
    name: bot.name,
    kind: bot.dialog.kind,
    language: bot.language,
    languages: [...languages],
    version: bot.version ?? null,
    newVersion: isNew ? (onDisk.version ?? null) : null,
    numbers: bot.numbers.map(numbersFor(principal)),
    default: bot.default,
    greeting: greeting === undefined || greeting === '' ? null : shownText(greeting, principal),
    problems: await Promise.all(mine.map((problem) => problemView(problem, principal))),
  };
}

/** The bot whose files contain the problem. */
function ownerOf(problem: Problem, bots: readonly Bot[]): Bot | undefined {
  const { path } = placeOf(problem);
  return bots.find(({ name, file, folder, dialog }) => {
    if (path === undefined) return problem.where === `bot ${name}`;
    const beside = 'file' in dialog ? dialog.file : 'toolsFile' in dialog ? dialog.toolsFile : undefined;
    return path === file || (beside !== undefined && path === resolve(folder, beside));
  });
}

/** Reload errors quote the files of all tenants: only the operator sees them. */
function reloadOf({ lastReload }: BotOrders, { tenantId }: Principal): BotView['lastReload'] {
  return lastReload === undefined || tenantId !== DEFAULT_TENANT
    ? null
    : { at: isoTime(lastReload.atMs), problems: [...lastReload.problems] };
}

/** A flow's graph, with texts as this key may see them. */
export function graphView(
  { start, hours, steps, edges, entries }: NonNullable<Awaited<ReturnType<BotOrders['outlineOf']>>['graph']>,
  principal: Principal,
): NonNullable<BotView['graph']> {
  const shown = (text: string): string => shownText(text, principal);
  return {
    start,
    hours: hours === undefined ? null : { ...hours, open: [...hours.open], holidays: [...hours.holidays] },
    steps: steps.map(({ prompts, slots, target, ...step }) => ({
      ...step,
      prompts: prompts.map(shown),
      slots: [...slots],
      target: target === undefined ? null : shown(target),
    })),
    edges: edges.map(({ when, ...edge }) => ({ ...edge, when: when.map((reason) => ({ ...reason })) })),
    entries: entries.map(({ to, command }) => ({ to, command: command ?? null })),
  };
}
