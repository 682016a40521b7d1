import { and, eq, gte, inArray, isNotNull, lt, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type {
  BotStatistics,
  CostGroup,
  CostSum,
  CountedCalls,
  PathCounts,
  RecentCalls,
  ReplyTimes,
  StatisticsRepository,
} from '../statistics.ts';
import { calls, turns } from './schema.ts';
import { Repository } from './repository.ts';
import { inStoreErrors } from './tenancy.ts';

/** Most calls whose paths are counted; the latest are. */
const MOST_CALLS = 20_000;
const EXAMPLES = 5;

const counted = z.object({
  kind: z.enum(['all', 'step', 'hop', 'end']),
  one: z.string().nullable(),
  other: z.string().nullable(),
  times: z.number(),
  calls: z.number(),
  examples: z.array(z.string()).nullable(),
});
const outcome = z.object({
  version: z.string().nullable(),
  day: z.string(),
  end_reason: z.string().nullable(),
  disposition: z.string().nullable(),
  calls: z.number(),
});
const waited = z.object({
  version: z.string().nullable(),
  day: z.string().nullable(),
  /** Bits of the rolled-up columns: 1 for the day, 2 for the version. */
  over: z.number(),
  replies: z.number(),
  times: z.tuple([z.number(), z.number(), z.number()]),
});

const costed = z.object({
  group: z.string().nullable(),
  currency: z.string(),
  calls: z.number(),
  micros: z.number(),
  unknown: z.number(),
});

const recentReplies = z.object({
  replies: z.number(),
  times: z.tuple([z.number().nullable(), z.number().nullable()]).nullable(),
  broken: z.number(),
  early: z.number(),
});
const NO_REPLIES = { replies: 0, replyP50Ms: undefined, replyP95Ms: undefined, brokenOff: 0, brokenOffEarly: 0 } as const;
/** A reply that was broken off before this had begun too early. */
const EARLY_MS = 1_000;

/** Counts paths, endings and costs of calls. Uses unencrypted columns only: steps, times and reasons. */
export class PostgresStatistics extends Repository implements StatisticsRepository {
  async paths(tenantId: string, asked: CountedCalls): Promise<PathCounts> {
    const rows = await this.#rows(
      tenantId,
      counted,
      sql`
      WITH found AS MATERIALIZED (
        SELECT ${calls.id} AS id, ${calls.path} AS path, coalesce(${calls.endReason}, '') AS reason
        FROM ${calls} WHERE ${chosen(tenantId, asked)} AND ${calls.path} IS NOT NULL
        ORDER BY ${calls.startedAtMs} DESC LIMIT ${MOST_CALLS + 1}
      ), hops AS MATERIALIZED (
        SELECT id, reason, step, n = cardinality(path) AS last, lag(step) OVER (PARTITION BY id ORDER BY n) AS before
        FROM found, unnest(path) WITH ORDINALITY AS steps(step, n)
      )
      SELECT 'all' AS kind, NULL AS one, NULL AS other, count(*)::int AS times, count(*)::int AS calls, NULL::text[] AS examples FROM found
      UNION ALL
      SELECT 'step', step, NULL, count(*)::int, count(DISTINCT id)::int, NULL FROM hops GROUP BY step
      UNION ALL
      SELECT 'hop', before, step, count(*)::int, count(DISTINCT id)::int, NULL FROM hops GROUP BY before, step
      UNION ALL
      SELECT 'end', step, reason, count(*)::int, count(*)::int, (array_agg(id ORDER BY id DESC))[1:${sql.raw(String(EXAMPLES))}]
      FROM hops WHERE last GROUP BY step, reason
      ORDER BY kind, times DESC, one, other`,
    );
    const of = (kind: z.infer<typeof counted>['kind']) => rows.filter((row) => row.kind === kind);
    const found = of('all')[0]?.calls ?? 0;
    return {
      calls: Math.min(found, MOST_CALLS),
      hasMore: found > MOST_CALLS,
      steps: of('step').map(({ one, times, calls: within }) => ({ step: one ?? '', times, calls: within })),
      hops: of('hop').map((row) => ({ from: row.one ?? undefined, to: row.other ?? '', times: row.times, calls: row.calls })),
      ends: of('end').map((row) => ({
        step: row.one ?? '',
        endReason: row.other ?? '',
        calls: row.calls,
        examples: row.examples ?? [],
      })),
    };
  }

  async ofBot(tenantId: string, asked: CountedCalls, timeZone: string): Promise<BotStatistics> {
    const day = sql`to_char(to_timestamp(${calls.startedAtMs} / 1000.0) AT TIME ZONE ${timeZone}::text, 'YYYY-MM-DD')`;
    const outcomes = await this.#rows(
      tenantId,
      outcome,
      sql`
      SELECT version, day, end_reason, disposition, count(*)::int AS calls FROM (
        SELECT ${calls.botVersion} AS version, ${day} AS day, ${calls.endReason} AS end_reason, ${calls.disposition} AS disposition
        FROM ${calls} WHERE ${chosen(tenantId, asked)}
      ) AS found GROUP BY version, day, end_reason, disposition ORDER BY day, version, calls DESC`,
    );
    const replies = await this.#rows(
      tenantId,
      waited,
      sql`
      SELECT version, day, GROUPING(version, day)::int AS over, count(*)::int AS replies,
        percentile_cont(ARRAY[0.5, 0.9, 0.99]::float8[]) WITHIN GROUP (ORDER BY waited) AS times
      FROM (
        SELECT ${calls.botVersion} AS version, ${day} AS day, (${turns.latencies}->>'total')::float8 AS waited
        FROM ${calls} JOIN ${turns} ON ${turns.tenantId} = ${calls.tenantId} AND ${turns.callId} = ${calls.id}
        WHERE ${chosen(tenantId, asked)} AND ${turns.inputKind} IN ('spoken', 'keyed') AND ${turns.latencies}->>'total' IS NOT NULL
      ) AS found GROUP BY GROUPING SETS ((version), (day), ()) ORDER BY day, version`,
    );
    const grouped = (over: number) => replies.filter((row) => row.over === over);
    const [all] = grouped(3);
    return {
      outcomes: outcomes.map((row) => ({
        botVersion: row.version ?? undefined,
        day: row.day,
        endReason: row.end_reason ?? '',
        disposition: row.disposition ?? undefined,
        calls: row.calls,
      })),
      replies: all === undefined || all.replies === 0 ? undefined : timesOf(all),
      repliesByVersion: grouped(1).map((row) => ({ ...timesOf(row), botVersion: row.version ?? undefined })),
      repliesByDay: grouped(2).map((row) => ({ ...timesOf(row), day: row.day ?? '' })),
    };
  }

  async costs(tenantId: string, { fromMs, toMs }: { fromMs: number; toMs: number }, by: CostGroup): Promise<readonly CostSum[]> {
    const day = sql`to_char(to_timestamp(${calls.startedAtMs} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
    const group = { bot: sql`${calls.botName}`, campaign: sql`${calls.campaignId}`, day, vendor: sql`part->>'vendor'` }[by];
    const later = sql`coalesce((SELECT jsonb_agg(one) FROM jsonb_each(coalesce(${calls.laterCost}, '{}')) AS job, jsonb_array_elements(job.value) AS one), '[]')`;
    const parts = by === 'vendor' ? sql`, jsonb_array_elements(${calls.cost}->'parts' || ${later}) AS part` : sql``;
    const micros =
      by === 'vendor'
        ? sql`CASE WHEN part->>'cost' = 'unknown' THEN 0 ELSE round((part->>'cost')::numeric * 1000000) END`
        : sql`${calls.knownCostMicros}`;
    const unknown = by === 'vendor' ? sql`part->>'cost' = 'unknown'` : sql`${calls.costMicros} IS NULL`;
    const rows = await this.#rows(
      tenantId,
      costed,
      sql`
      SELECT ${group} AS "group", ${calls.costCurrency} AS currency, count(DISTINCT ${calls.id})::int AS calls,
        sum(${micros})::float8 AS micros, (count(DISTINCT ${calls.id}) FILTER (WHERE ${unknown}))::int AS unknown
      FROM ${calls}${parts}
      WHERE ${calls.tenantId} = ${tenantId} AND ${calls.startedAtMs} >= ${fromMs} AND ${calls.startedAtMs} < ${toMs}
        AND ${calls.costCurrency} IS NOT NULL
      GROUP BY 1, 2 ORDER BY ${by === 'day' ? sql`1` : sql`micros DESC, 1`}`,
    );
    return rows.map(({ group: name, currency, calls: count, micros: knownMicros, unknown: unknownCalls }) => ({
      group: name ?? undefined,
      currency,
      calls: count,
      knownMicros,
      unknownCalls,
    }));
  }

  async recent(
    tenantIds: readonly string[],
    { fromMs, toMs, botName }: { fromMs: number; toMs: number; botName?: string | undefined },
  ): Promise<RecentCalls> {
    if (tenantIds.length === 0) return { ...NO_REPLIES, endings: [] };
    const where = and(
      inArray(calls.tenantId, [...tenantIds]),
      gte(calls.startedAtMs, fromMs),
      lt(calls.startedAtMs, toMs),
      isNotNull(calls.endedAtMs),
      botName === undefined ? undefined : eq(calls.botName, botName),
    );
    const { owner } = this.tenancy;
    const endings = await inStoreErrors(
      owner
        .select({ endReason: sql<string>`coalesce(${calls.endReason}, '')`, calls: sql<number>`count(*)::int` })
        .from(calls)
        .where(where)
        .groupBy(calls.endReason)
        .execute(),
    );
    const waited = sql`CASE WHEN ${turns.inputKind} IN ('spoken', 'keyed') THEN (${turns.latencies}->>'total')::float8 END`;
    const rows = await inStoreErrors(
      owner.execute(sql`
      SELECT count(*)::int AS replies, percentile_cont(ARRAY[0.5, 0.95]::float8[]) WITHIN GROUP (ORDER BY ${waited}) AS times,
        (count(*) FILTER (WHERE ${turns.interrupted}))::int AS broken,
        (count(*) FILTER (WHERE ${turns.interrupted} AND ${turns.botEndedAtMs} - ${turns.botStartedAtMs} < ${EARLY_MS}))::int AS early
      FROM ${calls} JOIN ${turns} ON ${turns.tenantId} = ${calls.tenantId} AND ${turns.callId} = ${calls.id} WHERE ${where}`),
    );
    const [found] = z.array(recentReplies).parse(rows.rows);
    if (found === undefined) return { ...NO_REPLIES, endings };
    const [replyP50Ms, replyP95Ms] = found.times ?? [undefined, undefined];
    const { replies, broken: brokenOff, early: brokenOffEarly } = found;
    return {
      endings,
      replies,
      replyP50Ms: replyP50Ms ?? undefined,
      replyP95Ms: replyP95Ms ?? undefined,
      brokenOff,
      brokenOffEarly,
    };
  }

  async spentSince(tenantIds: readonly string[], sinceMs: number): Promise<readonly { botName: string; micros: number }[]> {
    if (tenantIds.length === 0) return [];
    return inStoreErrors(
      this.tenancy.owner
        .select({ botName: calls.botName, micros: sql<number>`sum(${calls.knownCostMicros})::float8` })
        .from(calls)
        .where(and(inArray(calls.tenantId, [...tenantIds]), gte(calls.startedAtMs, sinceMs), isNotNull(calls.knownCostMicros)))
        .groupBy(calls.botName)
        .execute(),
    );
  }

  async #rows<Row>(tenantId: string, shape: z.ZodType<Row>, query: SQL): Promise<Row[]> {
    const { rows } = await this.ask(tenantId, (session) => session.execute(query));
    // The empty group has no times.
    return z.array(shape).parse(rows.filter(({ times }) => times !== null));
  }
}

function chosen(tenantId: string, { botName, fromMs, toMs, botVersion }: CountedCalls): SQL {
  const version = botVersion === undefined ? sql`TRUE` : sql`${calls.botVersion} = ${botVersion}`;
  return sql`${calls.tenantId} = ${tenantId} AND ${calls.botName} = ${botName} AND ${calls.startedAtMs} >= ${fromMs}
    AND ${calls.startedAtMs} < ${toMs} AND ${calls.endedAtMs} IS NOT NULL AND ${version}`;
}

function timesOf({ replies, times: [medianMs, p90Ms, p99Ms] }: z.infer<typeof waited>): ReplyTimes {
  return { replies, medianMs: Math.round(medianMs), p90Ms: Math.round(p90Ms), p99Ms: Math.round(p99Ms) };
}
