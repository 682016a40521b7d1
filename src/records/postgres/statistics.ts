import { and, eq, gte, inArray, isNotNull, lt, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { ENDINGS } from '../../call/log/outcome.ts';
import { SLOT_MS, slotOf } from '../periods.ts';
import { replyTimes } from '../reply-times.ts';
import type {
  CostGroup,
  CostSum,
  CountedCalls,
  FigureGroup,
  Figures,
  PathCounts,
  StatisticsRepository,
  UnpricedUnits,
} from '../statistics.ts';
import { equals } from './query.ts';
import { Repository } from './repository.ts';
import { countedCalls, KEY, rollUp, SUMMED } from './rollups.ts';
import { calls, turns } from './schema.ts';
import { BUCKET_COLUMNS, ENDING_COLUMNS, rollups, staleSlots } from './statistics-schema.ts';
import { inStoreErrors } from './tenancy.ts';

/** Most calls whose paths are counted; the latest are. */
const MOST_CALLS = 20_000;
const EXAMPLES = 5;
const MOST_UNPRICED = 200;

const counted = z.object({
  kind: z.enum(['all', 'step', 'hop', 'end']),
  one: z.string().nullable(),
  other: z.string().nullable(),
  times: z.number(),
  calls: z.number(),
  examples: z.array(z.string()).nullable(),
});
const summed = z.object({
  key: z.string(),
  currency: z.string(),
  bot_name: z.string(),
  bot_version: z.string(),
  first_ms: z.coerce.number(),
  last_ms: z.coerce.number(),
  micros: z.coerce.number(),
  figures: z.array(z.number()),
});
const outcome = z.object({ disposition: z.string(), calls: z.number() });

/** Changed quarters of an hour that a reader computes itself; the sweep does the rest. */
const AT_READING = 96;

const costed = z.object({
  group: z.string().nullable(),
  currency: z.string(),
  calls: z.number(),
  micros: z.number(),
  unknown: z.number(),
});

const replied = z.object({ replies: z.number(), broken: z.number() });
const unpricedUnits = z.object({ vendor: z.string(), model: z.string().nullable(), unit: z.string(), calls: z.number() });

/** Parts of a call's cost that came after its end, as one list: those of analyses. */
const LATER_PARTS = sql`coalesce((SELECT jsonb_agg(one) FROM jsonb_each(coalesce(${calls.laterCost}, '{}')) AS job, jsonb_array_elements(job.value) AS one), '[]')`;
/** Joins each part of a call's cost. */
const EACH_PART = sql`, jsonb_array_elements(${calls.cost}->'parts' || ${LATER_PARTS}) AS part`;

/** Figures of calls, from rollups; paths and costs of calls. Uses unencrypted columns only: steps, times, reasons and costs. */
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

  async figures(tenantIds: string | readonly string[], asked: CountedCalls): Promise<Figures> {
    const [all] = await this.#sums(tenantIds, asked, sql`''`);
    return all === undefined ? NONE : figuresOnly(all);
  }

  async figuresByPeriod(tenantId: string, asked: CountedCalls, startsMs: readonly number[]): Promise<readonly Figures[]> {
    // The first call's quarter of an hour may have begun before the range.
    const starts = [Number.MIN_SAFE_INTEGER, ...startsMs.slice(1)];
    const found = await this.#sums(tenantId, asked, sql`width_bucket(slot_ms::float8, ${sql.param(starts)}::float8[])::text`);
    const byKey = new Map(found.map((group) => [group.key, figuresOnly(group)]));
    return startsMs.map((_, at) => byKey.get(String(at + 1)) ?? NONE);
  }

  async figuresByBot(tenantId: string, asked: CountedCalls, by: 'bot' | 'version'): Promise<readonly FigureGroup[]> {
    const key = by === 'bot' ? sql`bot_name` : sql`bot_name || ' ' || bot_version`;
    const found = await this.#sums(tenantId, asked, key);
    return found
      .map(({ key: _key, ...group }) => (by === 'bot' ? { ...group, botVersion: '' } : group))
      .toSorted((one, other) => other.lastMs - one.lastMs || other.firstMs - one.firstMs);
  }

  async dispositions(tenantId: string, asked: CountedCalls): ReturnType<StatisticsRepository['dispositions']> {
    const { calls: all } = await this.figures(tenantId, asked);
    const rows = await this.#rows(
      tenantId,
      outcome,
      sql`SELECT each.key AS disposition, sum(each.value::int)::int AS calls
      FROM (${countedRows(tenantId, asked)}) AS rolled, jsonb_each_text(dispositions) AS each GROUP BY each.key ORDER BY calls DESC, each.key`,
    );
    const without = all - rows.reduce((sum, { calls: some }) => sum + some, 0);
    const found: { readonly disposition: string | undefined; readonly calls: number }[] = [...rows];
    if (without > 0) found.push({ disposition: undefined, calls: without });
    return found.toSorted((one, other) => other.calls - one.calls);
  }

  async rollUp(limit: number): Promise<number> {
    const tenants = await inStoreErrors(
      this.tenancy.owner.selectDistinct({ tenantId: staleSlots.tenantId }).from(staleSlots).execute(),
    );
    let computed = 0;
    for (const { tenantId } of tenants) computed += await this.atOnce(tenantId, (tx) => rollUp(tx, tenantId, limit));
    return computed;
  }

  /** Sums over groups of calls, of several tenants together. @param key of a group, as text */
  async #sums(
    tenantIds: string | readonly string[],
    asked: CountedCalls,
    key: SQL,
  ): Promise<(FigureGroup & { readonly key: string })[]> {
    const found = (await Promise.all([tenantIds].flat().map((each) => this.#rolled(each, asked, key)))).flat();
    return [...new Set(found.map((row) => row.key))].flatMap((group) => {
      const rows = found.filter((row) => row.key === group);
      const sums = SUMMED.map((_, at) => rows.reduce((sum, { figures }) => sum + (figures[at] ?? 0), 0));
      const [first] = rows;
      if (first === undefined || sums[0] === 0) return [];
      const currencies = [...new Set(rows.map(({ currency }) => currency))].filter((currency) => currency !== '');
      const microsOf = (currency: string): number =>
        rows.reduce((sum, row) => sum + (row.currency === currency ? row.micros : 0), 0);
      return {
        key: group,
        botName: first.bot_name,
        botVersion: first.bot_version,
        firstMs: Math.min(...rows.map(({ first_ms: ms }) => ms)),
        lastMs: Math.max(...rows.map(({ last_ms: ms }) => ms)),
        ...figuresIn(sums),
        costs: currencies.map((currency) => ({ currency, micros: microsOf(currency) })),
      };
    });
  }

  /** A row for each group and currency, once the latest changes are in the rollups. */
  async #rolled(tenantId: string, asked: CountedCalls, key: SQL): Promise<z.infer<typeof summed>[]> {
    const [stale] = await this.ask(tenantId, (session) =>
      session.select({ id: staleSlots.id }).from(staleSlots).where(eq(staleSlots.tenantId, tenantId)).limit(1),
    );
    if (stale !== undefined) await this.atOnce(tenantId, (tx) => rollUp(tx, tenantId, AT_READING));
    return this.#rows(
      tenantId,
      summed,
      sql`SELECT ${key} AS key, currency, min(bot_name) AS bot_name, min(bot_version) AS bot_version, min(slot_ms) AS first_ms,
        max(slot_ms) AS last_ms, sum(cost_micros) AS micros, ARRAY[${SUMS}] AS figures
      FROM (${countedRows(tenantId, asked)}) AS rolled GROUP BY 1, currency ORDER BY currency`,
    );
  }

  async costs(tenantId: string, { fromMs, toMs }: { fromMs: number; toMs: number }, by: CostGroup): Promise<readonly CostSum[]> {
    const day = sql`to_char(to_timestamp(${calls.startedAtMs} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
    const group = { bot: sql`${calls.botName}`, campaign: sql`${calls.campaignId}`, day, vendor: sql`part->>'vendor'` }[by];
    const parts = by === 'vendor' ? EACH_PART : sql``;
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

  async interruptions(
    tenantIds: readonly string[],
    { fromMs, toMs, botName, botVersion }: CountedCalls,
  ): Promise<{ replies: number; brokenOff: number }> {
    if (tenantIds.length === 0) return { replies: 0, brokenOff: 0 };
    const where = and(
      inArray(calls.tenantId, [...tenantIds]),
      gte(calls.startedAtMs, fromMs),
      lt(calls.startedAtMs, toMs),
      isNotNull(calls.ending),
      equals(calls, { botName, botVersion }),
    );
    const { rows } = await inStoreErrors(
      this.tenancy.owner.execute(sql`
      SELECT count(*)::int AS replies, (count(*) FILTER (WHERE ${turns.interrupted}))::int AS broken
      FROM ${calls} JOIN ${turns} ON ${turns.tenantId} = ${calls.tenantId} AND ${turns.callId} = ${calls.id} WHERE ${where}`),
    );
    const [{ replies, broken: brokenOff } = { replies: 0, broken: 0 }] = z.array(replied).parse(rows);
    return { replies, brokenOff };
  }

  async unpriced(tenantId: string, { fromMs, toMs }: { fromMs: number; toMs: number }): Promise<readonly UnpricedUnits[]> {
    const rows = await this.#rows(
      tenantId,
      unpricedUnits,
      sql`
      SELECT part->>'vendor' AS vendor, part->>'model' AS model, part->>'unit' AS unit, count(DISTINCT ${calls.id})::int AS calls
      FROM ${calls}${EACH_PART}
      WHERE ${calls.tenantId} = ${tenantId} AND ${calls.startedAtMs} >= ${fromMs} AND ${calls.startedAtMs} < ${toMs}
        AND ${calls.costCurrency} IS NOT NULL AND part->>'cost' = 'unknown'
      GROUP BY 1, 2, 3 ORDER BY calls DESC, 1, 2, 3 LIMIT ${MOST_UNPRICED}`,
    );
    return rows.map(({ model, ...row }) => ({ ...row, model: model ?? undefined }));
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
    return z.array(shape).parse(rows);
  }
}

/** Conditions for the calls of `paths`. */
function chosen(tenantId: string, { botName, fromMs, toMs, botVersion }: CountedCalls): SQL | undefined {
  return and(
    eq(calls.tenantId, tenantId),
    gte(calls.startedAtMs, fromMs),
    lt(calls.startedAtMs, toMs),
    isNotNull(calls.endedAtMs),
    equals(calls, { botName, botVersion }),
  );
}

/** Rollups of a range, and what is at its ends of less than a quarter of an hour, counted from the calls. */
function countedRows(tenantId: string, { fromMs, toMs, botName, botVersion }: CountedCalls): SQL {
  const [firstMs, lastMs] = [Math.ceil(fromMs / SLOT_MS) * SLOT_MS, slotOf(toMs)];
  const whole = and(
    eq(rollups.tenantId, tenantId),
    gte(rollups.slotMs, firstMs),
    lt(rollups.slotMs, lastMs),
    equals(rollups, { botName, botVersion }),
  );
  const ends =
    firstMs > lastMs
      ? [{ fromMs, toMs }]
      : [
          { fromMs, toMs: firstMs },
          { fromMs: lastMs, toMs },
        ];
  const parts = ends.filter((end) => end.fromMs < end.toMs);
  const columns = sql`${KEY}, cost_micros, ${sql.raw(SUMMED.join(', '))}, dispositions`;
  const stored = sql`SELECT ${columns} FROM ${rollups} WHERE ${whole}`;
  if (parts.length === 0) return stored;
  return sql`${stored} UNION ALL SELECT ${columns} FROM (${countedCalls(tenantId, parts, equals(calls, { botName, botVersion }))}) AS ends`;
}

const SUMS = sql.raw(SUMMED.map((name) => `coalesce(sum(${name}), 0)::int`).join(', '));

/** Figures from sums in the order of `SUMMED`. */
function figuresIn(sums: readonly number[]): Omit<Figures, 'costs'> {
  const of = (name: string): number => sums[SUMMED.indexOf(name)] ?? 0;
  const bucketsFrom = SUMMED.length - BUCKET_COLUMNS.length;
  return {
    calls: of('calls'),
    answered: of('answered'),
    contained: of('contained'),
    transferred: of('transferred'),
    givenUp: of('given_up'),
    optedOut: of('opted_out'),
    cutOffCalls: of('cut_off_calls'),
    cutOffs: of('cut_offs'),
    notUnderstoodCalls: of('not_understood_calls'),
    notUnderstood: of('not_understood'),
    durationS: of('duration_s'),
    // One for each ending.
    endings: Object.fromEntries(ENDINGS.map((ending, at) => [ending, of(ENDING_COLUMNS[at] ?? '')])) as Figures['endings'],
    replies: replyTimes(sums.slice(bucketsFrom)),
  };
}

const NONE: Figures = { ...figuresIn([]), costs: [] };

function figuresOnly(group: FigureGroup & { readonly key: string }): Figures {
  const { key: _key, botName: _bot, botVersion: _version, firstMs: _first, lastMs: _last, ...figures } = group;
  return figures;
}
