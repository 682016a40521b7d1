import { z } from 'zod';
import { type Ending, endingOf } from '../../../call/log/outcome.ts';
import type { BotStatistics, CountedCalls, OutcomeCount, PathCounts, ReplyTimes } from '../../../records/statistics.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { botOfTenant } from './bot-routes.ts';
import { botPathsView, type BotStatsView, botStatsView } from './bot-views.ts';
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

/** Statistics of a bot's calls: paths, endings, and waits. */
export function botCountRoutes(app: ApiApp, { bots: orders, store, clock }: ApiDeps): void {
  if (orders === undefined) return;
  const paths = new Kept<PathCounts>(() => clock.nowMs());
  const statistics = new Kept<BotStatistics>(() => clock.nowMs());
  const found = (tenantId: string, name: string, query: z.output<typeof asked>) => {
    const bot = botOfTenant(orders, { tenantId }, name);
    return { bot, calls: callsOf(name, query, clock.wallMs()) };
  };
  app.get(
    '/bots/:name/paths',
    about('bots:read', 'Where calls went in a bot’s dialog, step by step, and where they ended', {
      params: named,
      querystring: asked,
      response: { 200: botPathsView },
    }),
    async ({ principal: { tenantId }, params: { name }, query }) => {
      const { calls } = found(tenantId, name, query);
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
  app.get(
    '/bots/:name/stats',
    about('bots:read', 'How a bot’s calls ended and how long callers waited, by version and by day', {
      params: named,
      querystring: asked,
      response: { 200: botStatsView },
    }),
    async ({ principal: { tenantId }, params: { name }, query }) => {
      const { bot, calls } = found(tenantId, name, query);
      const counts = await statistics.get(JSON.stringify([tenantId, name, query]), () =>
        store.statistics.ofBot(tenantId, calls, bot.timeZone),
      );
      return { ...countedOf(calls), ...statsOf(counts) };
    },
  );
}

/** @throws RequestRefused 400 */
function callsOf(botName: string, { from, to, version }: z.output<typeof asked>, nowMs: number): CountedCalls {
  const toMs = to === undefined ? nowMs + 1 : Date.parse(to);
  const fromMs = from === undefined ? toMs - BY_DEFAULT_MS : Date.parse(from);
  if (fromMs >= toMs) throw new RequestRefused(400, 'from must be before to.');
  if (toMs - fromMs > MOST_MS) throw new RequestRefused(400, 'from and to may be 366 days apart at most.');
  return { botName, fromMs, toMs, botVersion: version };
}

function countedOf({ fromMs, toMs, botVersion }: CountedCalls): { from: string; to: string; version: string | null } {
  return { from: isoTime(fromMs), to: isoTime(toMs), version: botVersion ?? null };
}

/** Counts in the form of the API. */
export function statsOf({
  outcomes,
  replies,
  repliesByVersion,
  repliesByDay,
}: BotStatistics): Omit<BotStatsView, 'from' | 'to' | 'version'> {
  const versions = [...new Set(outcomes.map(({ botVersion }) => botVersion))].map((version) => ({
    version: version ?? null,
    ...tallyOf(
      outcomes.filter(({ botVersion }) => botVersion === version),
      repliesByVersion.find(({ botVersion }) => botVersion === version),
    ),
  }));
  const days = [...new Set(outcomes.map(({ day }) => day))].sort().map((day) => ({
    day,
    ...tallyOf(
      outcomes.filter((outcome) => outcome.day === day),
      repliesByDay.find((each) => each.day === day),
    ),
  }));
  const dispositions = [...new Set(outcomes.map(({ disposition }) => disposition))].map((disposition) => ({
    disposition: disposition ?? null,
    calls: callsIn(outcomes.filter((outcome) => outcome.disposition === disposition)),
  }));
  return {
    total: tallyOf(outcomes, replies),
    versions: versions.sort((one, other) => other.calls - one.calls),
    days,
    dispositions: dispositions.sort((one, other) => other.calls - one.calls),
  };
}

function tallyOf(outcomes: readonly OutcomeCount[], replies: ReplyTimes | undefined): BotStatsView['total'] {
  const endings: Partial<Record<Ending, number>> = {};
  for (const { endReason, calls } of outcomes) {
    const ending = endingOf(endReason);
    endings[ending] = (endings[ending] ?? 0) + calls;
  }
  return {
    calls: callsIn(outcomes),
    completed: (endings.finished ?? 0) + (endings.transferred ?? 0),
    endings,
    replies: replies === undefined ? null : timesOf(replies),
  };
}

function timesOf({ replies, medianMs, p90Ms, p99Ms }: ReplyTimes): NonNullable<BotStatsView['total']['replies']> {
  return { replies, medianMs, p90Ms, p99Ms };
}

function callsIn(outcomes: readonly OutcomeCount[]): number {
  return outcomes.reduce((sum, { calls }) => sum + calls, 0);
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
