import { z } from 'zod';
import { MOST_BOT_BYTES } from '../../../config/bot-versions.ts';
import type { Bot } from '../../../config/bots.ts';
import { errorsOf, problemText } from '../../../config/problem.ts';
import { DEFAULT_TENANT } from '../../../config/tenant-id.ts';
import { RequestRefused } from '../../problem.ts';
import type { BotOrders } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import type { BotEditing, DraftCheck } from './bot-editing.ts';
import { botOfTenant } from './bot-routes.ts';
import { restoreAddresses } from './hidden-addresses.ts';
import { type DraftView, problemView } from './bot-views.ts';

/** JSON writes a line's end, and some letters, in more bytes than the file. */
export const DRAFT_BODY_BYTES = 2 * MOST_BOT_BYTES;

/** The text of a bot file. */
export const draftText = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= MOST_BOT_BYTES, `at most ${MOST_BOT_BYTES} bytes`);

/** The editing of a bot. @throws RequestRefused 409 with the reason where it is not edited here */
export async function editable(orders: BotOrders, bot: Bot): Promise<BotEditing> {
  const { editing } = orders;
  const reason = editing === undefined ? 'The files of the bots are not here.' : await editing.readOnly(bot);
  if (editing === undefined || reason !== undefined)
    throw new RequestRefused(409, `This bot is not edited here. ${reason}`, { members: { readOnly: reason } });
  return editing;
}

/**
 * A draft as a bot, without errors.
 * @throws RequestRefused 403 without `bots:write`, 409 for a bot that is not edited here, 422 with the problems of the draft
 */
export async function soundDraft(orders: BotOrders, principal: Principal, bot: Bot, text: string): Promise<Bot> {
  if (!principal.scopes.includes('bots:write')) throw new RequestRefused(403, 'A draft needs the scope bots:write.');
  const editing = await editable(orders, bot);
  const { draft } = await checkedDraft(editing, principal, bot, restoreAddresses(text, editing.source(bot)));
  return draft;
}

/**
 * Keeps a draft for a call with it.
 * @returns the version that the call is begun with @throws RequestRefused 404 for an unknown bot, else as `soundDraft`
 */
export async function keptDraft(orders: BotOrders, principal: Principal, name: string, text: string): Promise<string> {
  const bot = botOfTenant(orders, principal, name);
  const { version: id = '' } = await soundDraft(orders, principal, bot, text);
  const editing = await editable(orders, bot);
  return editing.keepDraft(bot, { text: restoreAddresses(text, editing.source(bot)), id });
}

/** @returns the draft without errors in its own file, and errors of others @throws RequestRefused 422 with its problems */
export async function checkedDraft(
  editing: BotEditing,
  principal: Principal,
  bot: Bot,
  text: string,
): Promise<{ readonly draft: Bot; readonly others: DraftCheck['others'] }> {
  const check = await editing.check(bot, text);
  const { problems } = await draftViewOf(check, principal, bot, text);
  if (check.bot === undefined || errorsOf(check.problems).length > 0)
    throw new RequestRefused(422, 'The draft has problems.', { members: { problems } });
  return { draft: check.bot, others: check.others };
}

/** Problems of a draft, each with its place in it. */
export async function draftViewOf(
  check: DraftCheck,
  principal: Principal,
  { file = '' }: Bot,
  text: string,
): Promise<Omit<DraftView, 'graph'>> {
  const problems = await Promise.all(check.problems.map((problem) => problemView(problem, principal, { path: file, text })));
  return { ok: check.bot !== undefined && errorsOf(check.problems).length === 0, problems };
}

/** @throws RequestRefused 409 where other files keep every reload from happening */
export function refuseOthers(others: DraftCheck['others'], { tenantId }: Principal): void {
  if (others.length === 0) return;
  const which = tenantId === DEFAULT_TENANT ? others.map(problemText).slice(0, 5).join(' ') : 'Ask the operator of the gateway.';
  throw new RequestRefused(409, `New calls could not get this version, because other bots' files have problems. ${which}`);
}
