import { type SQL, type SQLWrapper, and, arrayContains, desc, eq, gte, inArray, lt, lte, or, sql } from 'drizzle-orm';
import { openCall } from './call-rows.ts';
import { checkLimit, equals, pageOf, pastCursor, present } from './query.ts';
import type { Reason } from '../attention.ts';
import type { CallPage, CallQuery, CallSummary } from '../port.ts';
import { type CallKeys, wrappedTextKey } from './keys.ts';
import { calls } from './schema.ts';
import { reviews } from './statistics-schema.ts';
import { type Session, type Tenancy, inStoreErrors } from './tenancy.ts';

/** Common words are searched in this many of the latest calls; a word that is rare there is looked up in its index. */
const RECENT = 5_000;

/** One page of a tenant's calls, newest first. */
export async function pageOfCalls(tenancy: Tenancy, keys: CallKeys, tenantId: string, query: CallQuery): Promise<CallPage> {
  const { limit } = query;
  checkLimit(limit);
  const conditions = await conditionsOf(keys, tenantId, query);
  if (conditions === undefined) return { calls: [], next: undefined };
  const { where, words } = conditions;
  // Row-level security prevents the use of a word index, as its planner trusts few operators. So the tables' owner looks words up and learns ids
  // only, whose rows are then read as the tenant.
  const ids = words === undefined ? undefined : await inStoreErrors(idsWith(tenancy.owner, words, where, limit + 1));
  const chosen = ids === undefined ? where : and(eq(calls.tenantId, tenantId), inArray(calls.id, ids));
  const rows =
    ids?.length === 0
      ? []
      : await inStoreErrors(tenancy.ask(tenantId, (session) => summaries(session, keys, tenantId, chosen, limit + 1)));
  const { page, next } = pageOf(rows, limit, (row) => [row.startedAtMs, row.id]);
  return { calls: page, next };
}

/** How many calls a search finds, `atMost` if there are more. */
export async function countCalls(
  tenancy: Tenancy,
  keys: CallKeys,
  tenantId: string,
  query: Omit<CallQuery, 'limit' | 'before'>,
  atMost: number,
): Promise<number> {
  const conditions = await conditionsOf(keys, tenantId, query);
  if (conditions === undefined) return 0;
  const { where, words } = conditions;
  const count = async (session: Session): Promise<number> => {
    const some = session.select({ id: calls.id }).from(calls).where(and(where, words)).limit(atMost).as('some');
    const [row] = await session.select({ count: sql<number>`count(*)::int` }).from(some);
    return row?.count ?? 0;
  };
  return inStoreErrors(words === undefined ? tenancy.ask(tenantId, count) : count(tenancy.owner));
}

interface Conditions {
  /** Conditions without words and variables. */
  readonly where: SQL | undefined;
  /** Words and variables, which share an index. */
  readonly words: SQL | undefined;
}

/** @returns undefined when nothing can match: a text without words, or a number without digits */
async function conditionsOf(keys: CallKeys, tenantId: string, query: Omit<CallQuery, 'limit'>): Promise<Conditions | undefined> {
  const { botName, botVersion, language, carrier, direction, disposition, endReason, campaignId, answeredBy, held } = query;
  const { result, answered, optedOut } = query;
  const index = await inStoreErrors(keys.index(tenantId));
  const number = query.number === undefined ? undefined : index.number(query.number);
  const words = query.text === undefined ? undefined : index.words(query.text);
  if ((query.number !== undefined && number === undefined) || words?.length === 0) return undefined;
  const where = and(
    eq(calls.tenantId, tenantId),
    pastCursor(query.before, [calls.startedAtMs, calls.id]),
    number === undefined ? undefined : or(eq(calls.partyHash, number), eq(calls.lineHash, number)),
    equals(calls, {
      botName,
      botVersion,
      language,
      carrier,
      direction,
      disposition,
      endReason,
      campaignId,
      answeredBy,
      legalHold: held,
      result,
      answered,
      optedOut,
    }),
    above(sql`coalesce((${calls.summary}->>'interruptions')::float8, 0)`, query.interrupted),
    above(calls.cutOffs, query.cutOff),
    above(calls.notUnderstood, query.notUnderstood),
    query.attention === undefined ? undefined : deservesLook(tenantId, query.attention),
    query.minDurationMs === undefined ? undefined : gte(calls.durationMs, query.minDurationMs),
    query.maxDurationMs === undefined ? undefined : lte(calls.durationMs, query.maxDurationMs),
    query.minReplyMs === undefined ? undefined : gte(calls.worstReplyMs, query.minReplyMs),
    query.maxReplyMs === undefined ? undefined : lte(calls.worstReplyMs, query.maxReplyMs),
    query.minCostMicros === undefined ? undefined : gte(calls.knownCostMicros, query.minCostMicros),
    query.fromMs === undefined ? undefined : gte(calls.startedAtMs, query.fromMs),
    query.toMs === undefined ? undefined : lt(calls.startedAtMs, query.toMs),
  );
  const variables = query.variables?.map(([name, value]) => index.variable(name, value)) ?? [];
  const hashed = [
    variables.length === 0 ? undefined : arrayContains(calls.words, variables),
    words === undefined ? undefined : or(arrayContains(calls.words, words), arrayContains(calls.analysisWords, words)),
  ];
  return { where, words: and(...hashed) };
}

function deservesLook(tenantId: string, reason: Reason): SQL {
  return sql`EXISTS (SELECT FROM ${reviews} WHERE ${reviews.tenantId} = ${tenantId} AND ${reviews.callId} = ${calls.id}
    AND ${reviews.reasons} @> ARRAY[${reason}]::text[])`;
}

/** Whether a count is above zero; asks nothing when undefined. */
function above(count: SQLWrapper, wanted: boolean | undefined): SQL | undefined {
  if (wanted === undefined) return undefined;
  return wanted ? sql`${count} > 0` : sql`NOT (${count} > 0)`;
}

/**
 * The latest calls with these words. The planner assumes any word to be fairly common, and would scan all calls by time for a rare one, so the query
 * plan is forced.
 */
async function idsWith(owner: Tenancy['owner'], words: SQL, where: SQL | undefined, limit: number): Promise<string[]> {
  const recent = owner
    .select({ id: calls.id, startedAtMs: calls.startedAtMs, found: sql<boolean>`${words}`.as('found') })
    .from(calls)
    .where(where)
    .orderBy(desc(calls.startedAtMs), desc(calls.id))
    .limit(RECENT)
    .as('recent');
  const common = await owner
    .select({ id: recent.id })
    .from(recent)
    .where(eq(recent.found, true))
    .orderBy(desc(recent.startedAtMs), desc(recent.id))
    .limit(limit);
  if (common.length === limit) return common.map(({ id }) => id);
  const rows = await owner.execute<{ id: string }>(sql`
    WITH hits AS MATERIALIZED (SELECT ${calls.id} AS id, ${calls.startedAtMs} AS at FROM ${calls} WHERE ${and(where, words)})
    SELECT id FROM hits ORDER BY at DESC, id DESC LIMIT ${limit}`);
  return rows.rows.map(({ id }) => id);
}

async function summaries(
  session: Session,
  keys: CallKeys,
  tenantId: string,
  where: SQL | undefined,
  limit: number,
): Promise<CallSummary[]> {
  const rows = await session
    .select(listed)
    .from(calls)
    .where(where)
    .orderBy(desc(calls.startedAtMs), desc(calls.id))
    .limit(limit);
  return rows.map((row) => {
    const { personal, wrapped, recordingPath, ...found } = present(row);
    const key = wrapped === undefined ? undefined : keys.open(tenantId, row.id, 'text', wrapped);
    const { from, to, variables = {}, notes = [] } = openCall(personal ?? null, key);
    const {
      analysisState,
      legalHold,
      recordingObject,
      recordingFormat = 'wav' as const,
      audioErasedAtMs,
      textErasedAtMs,
      ...facts
    } = found;
    const keeping = { analysisState, legalHold, recordingObject, recordingFormat, audioErasedAtMs, textErasedAtMs };
    const recorded = audioErasedAtMs === undefined && (recordingObject ?? recordingPath) !== undefined;
    return { ...facts, from, to, variables, notes, recorded, keeping };
  });
}

const listed = {
  id: calls.id,
  botName: calls.botName,
  carrier: calls.carrier,
  direction: calls.direction,
  language: calls.language,
  startedAtMs: calls.startedAtMs,
  endedAtMs: calls.endedAtMs,
  endReason: calls.endReason,
  turnCount: calls.turnCount,
  durationMs: calls.durationMs,
  worstReplyMs: calls.worstReplyMs,
  medianReplyMs: calls.medianReplyMs,
  campaignId: calls.campaignId,
  answeredBy: calls.answeredBy,
  recordingPath: calls.recordingPath,
  disposition: calls.disposition,
  costMicros: calls.costMicros,
  knownCostMicros: calls.knownCostMicros,
  costCurrency: calls.costCurrency,
  analysisState: calls.analysisState,
  legalHold: calls.legalHold,
  recordingObject: calls.recordingObject,
  recordingFormat: calls.recordingFormat,
  audioErasedAtMs: calls.audioErasedAtMs,
  textErasedAtMs: calls.textErasedAtMs,
  personal: calls.personal,
  wrapped: wrappedTextKey('calls'),
};
