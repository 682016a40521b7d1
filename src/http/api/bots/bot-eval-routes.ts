import { z } from 'zod';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, noting } from '../api-app.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime } from '../views.ts';
import { DRAFT_BODY_BYTES, draftText, soundDraft } from './bot-drafts.ts';
import { type BotEvalStanding, EvalBusyError } from './bot-editing.ts';
import { botOfTenant } from './bot-routes.ts';
import { shownText } from './bot-views.ts';
import { restoreAddresses } from './hidden-addresses.ts';

const named = z.strictObject({ name: z.string().min(1).max(63) });

/** A run of a bot's suites that was begun here. `none`: none was since the gateway's start. */
export const botEvalView = z.object({
  state: z.enum(['none', 'running', 'done', 'stopped', 'failed']),
  /** Whether it compares a draft with the published version. */
  isDraft: z.boolean(),
  startedAt: z.iso.datetime().nullable(),
  /** Calls that were made, and how many there will be; 0 until the suites are read. */
  calls: z.int(),
  of: z.int(),
  /** Its results, by `GET /api/evals/runs/{id}`; null before its end. */
  run: z.string().nullable(),
  /** Why it failed. */
  problem: z.string().nullable(),
});
export type BotEvalView = z.output<typeof botEvalView>;

const begin = z.strictObject({
  /** A bot file to evaluate beside the published version; needs `bots:write` too. */
  draft: draftText.optional(),
  /** Calls of each scenario; the suite's own number when absent. */
  runs: z.int().min(1).max(20).optional(),
});

/** Runs of a bot's suites in text. The dialog is real, and asks its servers where the suite has no mocks: read access is not enough. */
export function botEvalRoutes(app: ApiApp, { bots: orders, audit }: ApiDeps): void {
  const evals = orders?.evals;
  if (orders === undefined || evals === undefined) return;
  const noted = noting(audit);
  app.get(
    '/bots/:name/evals',
    about('bots:read', 'How the latest run of a bot’s suites goes that was begun over the API', {
      params: named,
      response: { 200: botEvalView },
    }),
    async ({ principal, params: { name } }) => viewOf(evals.standing(botOfTenant(orders, principal, name)), principal),
  );
  app.post(
    '/bots/:name/evals',
    {
      config: { scope: 'calls:talk' },
      bodyLimit: DRAFT_BODY_BYTES,
      schema: {
        summary: 'Run a bot’s suites in text: a draft beside the published version, or the published version alone',
        params: named,
        body: begin,
        response: { 201: botEvalView },
      },
    },
    async ({ principal, params: { name }, body: { draft, runs } }) => {
      const bot = botOfTenant(orders, principal, name);
      if (draft !== undefined) await soundDraft(orders, principal, bot, draft);
      const text = draft && restoreAddresses(draft, orders.editing?.source(bot) ?? '');
      const begun = refusing(() => evals.begin(bot, text, runs));
      await noted(principal, 'bot-eval.begin', name);
      return viewOf(begun, principal);
    },
  );
  app.delete(
    '/bots/:name/evals',
    about('calls:talk', 'Stop the run of a bot’s suites after its call; the results so far are kept', {
      params: named,
      response: { 200: z.object({ stopped: z.boolean() }) },
    }),
    async ({ principal, params: { name } }) => {
      const stopped = evals.stop(botOfTenant(orders, principal, name));
      if (stopped) await noted(principal, 'bot-eval.stop', name);
      return { stopped };
    },
  );
}

function refusing<Value>(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof EvalBusyError) throw new RequestRefused(409, `${error.message}.`, { cause: error });
    throw error;
  }
}

function viewOf(standing: BotEvalStanding | undefined, principal: Principal): BotEvalView {
  if (standing === undefined)
    return { state: 'none', isDraft: false, startedAt: null, calls: 0, of: 0, run: null, problem: null };
  const { startedAtMs, run = null, problem, ...rest } = standing;
  return { ...rest, startedAt: isoTime(startedAtMs), run, problem: problem === undefined ? null : shownText(problem, principal) };
}
