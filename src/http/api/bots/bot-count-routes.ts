import { z } from 'zod';
import { endingOf } from '../../../call/log/outcome.ts';
import type { CountedCalls, PathCounts } from '../../../records/statistics.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { botOfTenant } from './bot-routes.ts';
import { botPathsView } from './bot-views.ts';
import { isoTime } from '../views.ts';

const named = z.strictObject({ name: z.string().min(1).max(63) });
const asked = z.strictObject({
  /** Start of the calls, from (included) to (excluded); the last thirty days where absent, at most a year. */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  version: z
    .string()
    .regex(/^[0-9a-f]{12}$/u)
    .optional(),
});

const DAY_MS = 86_400_000;
const BY_DEFAULT_MS = 30 * DAY_MS;
const MOST_MS = 366 * DAY_MS;
/** Cached: counting tens of thousands of calls takes a second of the database. */
const KEPT_MS = 30_000;
const MOST_KEPT = 100;

/** Where a bot's calls went. */
export function botCountRoutes(app: ApiApp, { bots: orders, store, clock }: ApiDeps): void {
  if (orders === undefined) return;
  const paths = new Kept<PathCounts>(() => clock.nowMs());
  app.get(
    '/bots/:name/paths',
    about('bots:read', 'Where calls went in a bot’s dialog, step by step, and where they ended', {
      params: named,
      querystring: asked,
      response: { 200: botPathsView },
    }),
    async ({ principal: { tenantId }, params: { name }, query }) => {
      botOfTenant(orders, { tenantId }, name);
      const calls = callsOf(name, query, clock.wallMs());
      const counts = await paths.get(JSON.stringify([tenantId, name, query]), () => store.statistics.paths(tenantId, calls));
      return {
        ...countedOf(calls),
        calls: counts.calls,
        more: counts.hasMore,
        steps: counts.steps.map((step) => ({ ...step })),
        hops: counts.hops.map(({ from, ...hop }) => ({ from: from ?? null, ...hop })),
        ends: counts.ends.map(({ examples, ...end }) => ({ ...end, ending: endingOf(end.endReason), examples: [...examples] })),
      };
    },
  );
}

/** @throws RequestRefused 400 */
function callsOf(
  botName: string,
  { from, to, version }: z.output<typeof asked>,
  nowMs: number,
): CountedCalls & { botName: string } {
  const toMs = to === undefined ? nowMs + 1 : Date.parse(to);
  const fromMs = from === undefined ? toMs - BY_DEFAULT_MS : Date.parse(from);
  if (fromMs >= toMs) throw new RequestRefused(400, 'from must be before to.');
  if (toMs - fromMs > MOST_MS) throw new RequestRefused(400, 'from and to may be 366 days apart at most.');
  return { botName, fromMs, toMs, botVersion: version };
}

function countedOf({ fromMs, toMs, botVersion }: CountedCalls): { from: string; to: string; version: string | null } {
  return { from: isoTime(fromMs), to: isoTime(toMs), version: botVersion ?? null };
}

/** Recent answers by request; a failed one is forgotten. */
class Kept<Answer> {
  readonly #nowMs: () => number;
  readonly #answers = new Map<string, { readonly atMs: number; readonly answer: Promise<Answer> }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#nowMs();
    const known = this.#answers.get(key);
    if (known !== undefined && nowMs - known.atMs < KEPT_MS) return known.answer;
    const answer = ask();
    answer.catch(() => this.#answers.delete(key));
    this.#answers.delete(key);
    this.#answers.set(key, { atMs: nowMs, answer });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MOST_KEPT && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}
