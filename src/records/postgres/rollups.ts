import { type SQL, sql } from 'drizzle-orm';
import { ENDINGS } from '../../call/log/outcome.ts';
import { SLOT_MS } from '../periods.ts';
import { BUCKET_BOUNDS_MS } from '../reply-times.ts';
import { insertRows } from './query.ts';
import { calls, turns } from './schema.ts';
import { BUCKET_COLUMNS, ENDING_COLUMNS, FIGURE_COLUMNS, rollups, staleSlots } from './statistics-schema.ts';
import type { Session } from './tenancy.ts';

/** What a call cost, as far as it is known: zero, and no currency, where calls have no cost. */
const COST = { micros: sql`coalesce(${calls.knownCostMicros}, 0)`, currency: sql`coalesce(${calls.costCurrency}, '')` };
/** A group of calls has one row. */
export const KEY = sql.raw('slot_ms, bot_name, bot_version, direction, currency');
/** All columns that are summed, in one order. */
export const SUMMED: readonly string[] = [...FIGURE_COLUMNS, ...ENDING_COLUMNS, ...BUCKET_COLUMNS];

const FIGURES: Readonly<Record<(typeof FIGURE_COLUMNS)[number], string>> = {
  calls: 'count(*)',
  answered: 'count(*) FILTER (WHERE answered)',
  contained: `count(*) FILTER (WHERE result = 'contained')`,
  transferred: `count(*) FILTER (WHERE result = 'transferred')`,
  given_up: `count(*) FILTER (WHERE result = 'given-up')`,
  opted_out: 'count(*) FILTER (WHERE opted_out)',
  cut_off_calls: 'count(*) FILTER (WHERE cut_offs > 0)',
  cut_offs: 'sum(cut_offs)',
  not_understood_calls: 'count(*) FILTER (WHERE not_understood > 0)',
  not_understood: 'sum(not_understood)',
  duration_s: 'coalesce(round(sum(duration_ms) / 1000.0), 0)',
};

/** Every column of a rollup after its key and cost, from rows of `found`. */
const COUNTED = sql.raw(
  [
    ...FIGURE_COLUMNS.map((name) => `${FIGURES[name]}::int AS ${name}`),
    ...ENDINGS.map((ending, at) => `(count(*) FILTER (WHERE ending = '${ending}'))::int AS ${ENDING_COLUMNS[at]}`),
  ].join(', '),
);
const SPREAD = sql.raw(
  BUCKET_COLUMNS.map((name, at) => `(sum(replies) FILTER (WHERE bucket = ${at}))::int AS ${name}`).join(', '),
);
const BUCKETED = sql.raw(BUCKET_COLUMNS.map((name) => `coalesce(${name}, 0) AS ${name}`).join(', '));
const BOUNDS = sql.raw(`ARRAY[${BUCKET_BOUNDS_MS.join(', ')}]::float8[]`);

/** A range of calls by their start: from (included) to (excluded), in ms. */
interface CallRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * A query that counts a tenant's calls in some ranges anew, in the columns of a rollup without the tenant.
 * @param where further conditions on `calls`
 */
export function countedCalls(tenantId: string, ranges: readonly CallRange[], where: SQL = sql`TRUE`): SQL {
  const [from, to] = [ranges.map(({ fromMs }) => fromMs), ranges.map(({ toMs }) => toMs)];
  return sql`
    SELECT ${KEY}, cost_micros, ${sql.raw([...FIGURE_COLUMNS, ...ENDING_COLUMNS].join(', '))}, ${BUCKETED}, dispositions
    FROM (
      WITH found AS MATERIALIZED (
        SELECT ${calls.tenantId} AS tenant_id, ${calls.id} AS id, ${calls.startedAtMs} - ${calls.startedAtMs} % ${sql.raw(String(SLOT_MS))} AS slot_ms,
          ${calls.botName} AS bot_name, coalesce(${calls.botVersion}, '') AS bot_version, ${calls.direction} AS direction,
          ${COST.currency}::text AS currency, ${COST.micros}::bigint AS cost_micros, ${calls.durationMs} AS duration_ms,
          ${calls.answered} AS answered, ${calls.result} AS result, ${calls.ending} AS ending, ${calls.optedOut} AS opted_out,
          ${calls.cutOffs} AS cut_offs, ${calls.notUnderstood} AS not_understood, ${calls.disposition} AS disposition
        FROM unnest(${sql.param(from)}::bigint[], ${sql.param(to)}::bigint[]) AS part(from_ms, to_ms)
        JOIN ${calls} ON ${calls.tenantId} = ${tenantId} AND ${calls.startedAtMs} >= part.from_ms AND ${calls.startedAtMs} < part.to_ms
        WHERE ${calls.ending} IS NOT NULL AND ${where}
      ), waits AS (
        SELECT ${KEY}, width_bucket((${turns.latencies}->>'total')::float8, ${BOUNDS}) AS bucket, count(*) AS replies
        FROM found JOIN ${turns} ON ${turns.tenantId} = found.tenant_id AND ${turns.callId} = found.id
        WHERE ${turns.inputKind} IN ('spoken', 'keyed') AND ${turns.latencies}->>'total' IS NOT NULL
        GROUP BY ${KEY}, bucket
      ), outcomes AS (
        SELECT ${KEY}, jsonb_object_agg(disposition, calls) AS dispositions FROM (
          SELECT ${KEY}, disposition, count(*) AS calls FROM found WHERE disposition IS NOT NULL GROUP BY ${KEY}, disposition
        ) AS each GROUP BY ${KEY}
      )
      SELECT * FROM (SELECT ${KEY}, sum(cost_micros)::bigint AS cost_micros, ${COUNTED} FROM found GROUP BY ${KEY}) AS counts
      LEFT JOIN (SELECT ${KEY}, ${SPREAD} FROM waits GROUP BY ${KEY}) AS spread USING (${KEY})
      LEFT JOIN outcomes USING (${KEY})
    ) AS counted`;
}

/** Notes that the figures of these moments are to be computed again. */
export async function markStale(session: Session, tenantId: string, slots: readonly number[]): Promise<void> {
  await insertRows(
    session,
    staleSlots,
    [...new Set(slots)].map((slotMs) => ({ tenantId, slotMs })),
  );
}

/** The same for the quarter of an hour in which a call began. */
export async function markCallStale(session: Session, tenantId: string, callId: string): Promise<void> {
  await session.execute(sql`
    INSERT INTO ${staleSlots} (tenant_id, slot_ms)
    SELECT ${calls.tenantId}, ${calls.startedAtMs} - ${calls.startedAtMs} % ${sql.raw(String(SLOT_MS))} FROM ${calls}
    WHERE ${calls.tenantId} = ${tenantId} AND ${calls.id} = ${callId}`);
}

/**
 * Computes the figures of changed quarters of an hour from their calls, the latest first. In a transaction.
 * @returns how many there were, at most `limit`
 */
export async function rollUp(session: Session, tenantId: string, limit: number): Promise<number> {
  // Writers of calls add rows and wait for nothing; those who compute the same figures wait for each other.
  await session.execute(sql`SELECT pg_advisory_xact_lock(hashtext('offhook rollups'), hashtext(${tenantId}))`);
  const { rows } = await session.execute<{ slot: string }>(sql`
    WITH slots AS (
      SELECT DISTINCT ${staleSlots.slotMs} AS slot_ms FROM ${staleSlots} WHERE ${staleSlots.tenantId} = ${tenantId}
      ORDER BY 1 DESC LIMIT ${limit}
    ), removed AS (
      DELETE FROM ${staleSlots} WHERE ${staleSlots.tenantId} = ${tenantId} AND ${staleSlots.slotMs} IN (SELECT slot_ms FROM slots)
      RETURNING slot_ms
    ) SELECT DISTINCT slot_ms::text AS slot FROM removed`);
  if (rows.length === 0) return 0;
  const slots = rows.map(({ slot }) => Number(slot));
  await session.execute(sql`
    DELETE FROM ${rollups} WHERE ${rollups.tenantId} = ${tenantId} AND ${rollups.slotMs} = ANY(${sql.param(slots)}::bigint[])`);
  const columns = sql.raw([...FIGURE_COLUMNS, ...ENDING_COLUMNS, ...BUCKET_COLUMNS].join(', '));
  const ranges = slots.map((fromMs) => ({ fromMs, toMs: fromMs + SLOT_MS }));
  await session.execute(sql`
    INSERT INTO ${rollups} (tenant_id, ${KEY}, cost_micros, ${columns}, dispositions)
    SELECT ${tenantId}, each.* FROM (${countedCalls(tenantId, ranges)}) AS each`);
  return slots.length;
}
