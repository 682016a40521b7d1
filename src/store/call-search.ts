import { type SQL, and, arrayContains, desc, eq, gte, inArray, lt, or, sql } from 'drizzle-orm';
import { openCall } from './call-rows.ts';
import { checkLimit, readCursor, writeCursor } from './cursor.ts';
import type { CallPage, CallQuery, CallSummary } from './port.ts';
import { type CallKeys, wrappedTextKey } from './privacy/call-keys.ts';
import { calls } from './schema.ts';
import type { Session, Tenancy } from './tenancy.ts';
import { unavailable } from './unavailable.ts';

/** One page of a tenant's calls, newest first. */
export async function pageOfCalls(tenancy: Tenancy, keys: CallKeys, tenantId: string, query: CallQuery): Promise<CallPage> {
  const { limit } = query;
  checkLimit(limit);
  const where = await conditions(keys, tenantId, query);
  // An index of words is of no use behind row-level security, whose planner trusts few operators. So words are looked up by
  // the tables' owner, who learns ids alone, and what they name is then read as the tenant.
  const ids =
    query.text === undefined || where === undefined ? undefined : await unavailable(idsOf(tenancy.owner, where, limit + 1));
  const chosen = ids === undefined ? where : and(eq(calls.tenantId, tenantId), inArray(calls.id, ids));
  const rows =
    chosen === undefined || ids?.length === 0
      ? []
      : await unavailable(tenancy.ask(tenantId, (session) => summaries(session, keys, tenantId, chosen, limit + 1)));
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { calls: page, next: last === undefined ? undefined : writeCursor([last.startedAtMs, last.id]) };
}

/** @returns undefined when nothing can be found: a text of no word, or a number of no digit */
async function conditions(keys: CallKeys, tenantId: string, query: CallQuery): Promise<SQL | undefined> {
  const after = readCursor(query.before);
  const index = await unavailable(keys.index(tenantId));
  const number = query.number === undefined ? undefined : index.number(query.number);
  const words = query.text === undefined ? undefined : index.words(query.text);
  if ((query.number !== undefined && number === undefined) || words?.length === 0) return undefined;
  return and(
    eq(calls.tenantId, tenantId),
    after === undefined ? undefined : sql`(${calls.startedAtMs}, ${calls.id}) < (${after[0]}, ${after[1] ?? ''})`,
    number === undefined ? undefined : or(eq(calls.partyHash, number), eq(calls.lineHash, number)),
    words === undefined ? undefined : or(arrayContains(calls.words, words), arrayContains(calls.analysisWords, words)),
    query.botName === undefined ? undefined : eq(calls.botName, query.botName),
    query.carrier === undefined ? undefined : eq(calls.carrier, query.carrier),
    query.direction === undefined ? undefined : eq(calls.direction, query.direction),
    query.disposition === undefined ? undefined : eq(calls.disposition, query.disposition),
    query.fromMs === undefined ? undefined : gte(calls.startedAtMs, query.fromMs),
    query.toMs === undefined ? undefined : lt(calls.startedAtMs, query.toMs),
  );
}

async function idsOf(session: Session, where: SQL, limit: number): Promise<string[]> {
  const rows = await session
    .select({ id: calls.id })
    .from(calls)
    .where(where)
    .orderBy(desc(calls.startedAtMs), desc(calls.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}

async function summaries(session: Session, keys: CallKeys, tenantId: string, where: SQL, limit: number): Promise<CallSummary[]> {
  const rows = await session
    .select(listed)
    .from(calls)
    .where(where)
    .orderBy(desc(calls.startedAtMs), desc(calls.id))
    .limit(limit);
  return rows.map(({ personal, wrapped, legalHold, analysisState, recordingObject, audioErasedAtMs, textErasedAtMs, ...row }) => {
    const key = wrapped === null ? undefined : keys.open(tenantId, row.id, 'text', wrapped);
    const { from, to } = openCall(personal, key);
    return {
      ...row,
      from,
      to,
      endedAtMs: row.endedAtMs ?? undefined,
      endReason: row.endReason ?? undefined,
      disposition: row.disposition ?? undefined,
      keeping: {
        analysisState,
        legalHold,
        recordingObject: recordingObject ?? undefined,
        audioErasedAtMs: audioErasedAtMs ?? undefined,
        textErasedAtMs: textErasedAtMs ?? undefined,
      },
    };
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
  disposition: calls.disposition,
  analysisState: calls.analysisState,
  legalHold: calls.legalHold,
  recordingObject: calls.recordingObject,
  audioErasedAtMs: calls.audioErasedAtMs,
  textErasedAtMs: calls.textErasedAtMs,
  personal: calls.personal,
  wrapped: wrappedTextKey('calls'),
};
