import { sql, and, asc, eq, lt, lte, type SQL } from 'drizzle-orm';
import { Repository } from './repository.ts';
import { type Session, inStoreErrors } from './tenancy.ts';
import { inFormat } from '../../audio/recording-format.ts';
import { type CostPart, withParts } from '../../costs/cost.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { type CallRecord, IMPORTED, callRecord } from '../record.ts';
import { callColumns, checkedRecord, costColumns, openCall, openTimeline, openTurn } from './call-rows.ts';
import { countCalls, pageOfCalls } from './call-search.ts';
import type { CallPage, CallQuery, CallRef, CallRepository, NewCallRecord, StoredCall } from '../port.ts';
import { erasedAmong, wasErased } from './keys.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import { slotOf } from '../periods.ts';
import { insertRows, present, withoutNulls } from './query.ts';
import { keepFound } from './reviews.ts';
import { markCallStale, markStale } from './rollups.ts';
import { attachments, calls, events, legs, turns } from './schema.ts';

export class PostgresCalls extends Repository implements CallRepository {
  async upsert(given: NewCallRecord): Promise<void> {
    const record = checkedRecord(given);
    const { tenantId, id: callId } = record;
    const index = await this.index(tenantId);
    await this.atOnce(tenantId, async (tx) => {
      const key = await this.keys.obtain(tx, tenantId, callId, 'text');
      if (await wasErased(tx, tenantId, callId, 'text')) {
        await this.keys.destroy(tx, tenantId, callId, 'text');
        return;
      }
      const columns = callColumns(record, key);
      const values = { ...columns.call, ...foundBy(record, index), analysisState: firstState(record) };
      const [before] = await tx
        .select({ laterCost: calls.laterCost })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)))
        .for('update');
      const withLater = costColumns(record.cost, before?.laterCost ?? {});
      const { tenantId: _tenantId, id: _id, analysisState, recordingWanted, ...columnsOfRecord } = values;
      const changes = { ...columnsOfRecord, ...withLater };
      const written = await tx
        .insert(calls)
        .values(values)
        .onConflictDoUpdate({
          target: [calls.tenantId, calls.id],
          set: {
            ...changes,
            // A repeated record lacks later changes.
            recordingWanted: sql`CASE WHEN ${calls.recordingFormat} IS NULL AND ${calls.audioErasedAtMs} IS NULL THEN ${recordingWanted}::text ELSE ${calls.recordingWanted} END`,
            analysisState: sql`CASE ${calls.analysisState} WHEN 'none' THEN ${analysisState} ELSE ${calls.analysisState} END`,
          },
          setWhere: lte(calls.revision, record.revision),
        })
        // A newly inserted row has xmax 0 (PostgreSQL manual, "System Columns").
        .returning({ inserted: sql<boolean>`xmax = 0` });
      const [outcome] = written;
      if (outcome === undefined) return;
      for (const table of outcome.inserted ? [] : [legs, attachments, turns, events]) {
        await tx.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.callId, callId)));
      }
      await insertParts(tx, tenantId, [[callId, columns]]);
      await countAndReview(tx, tenantId, [record]);
    });
  }

  async upsertMany(given: readonly NewCallRecord[]): Promise<void> {
    const records = given.map(checkedRecord);
    const byTenant = new Map<string, CallRecord[]>();
    for (const record of records) byTenant.set(record.tenantId, [...(byTenant.get(record.tenantId) ?? []), record]);
    for (const [tenantId, theirs] of byTenant) {
      const written = await this.#insertNew(tenantId, theirs);
      // Existing, erased or duplicate records are written one by one.
      for (const record of theirs) if (!written.has(record)) await this.upsert(record);
    }
  }

  /** Inserts records of new calls. @returns those it has written */
  async #insertNew(tenantId: string, given: readonly CallRecord[]): Promise<ReadonlySet<CallRecord>> {
    const index = await this.index(tenantId);
    const firsts = new Map<string, CallRecord>();
    for (const record of given) if (!firsts.has(record.id)) firsts.set(record.id, record);
    // In one order, to avoid deadlocks between writers of the same calls.
    const ids = [...firsts.keys()].sort();
    return this.atOnce(tenantId, async (tx) => {
      const keys = await this.keys.make(tx, tenantId, ids, 'text');
      const erased = await erasedAmong(tx, tenantId, [...keys.keys()], 'text');
      for (const callId of erased) await this.keys.destroy(tx, tenantId, callId, 'text');
      const fresh = ids.flatMap((callId) => {
        const [record, key] = [firsts.get(callId), keys.get(callId)];
        if (record === undefined || key === undefined || erased.has(callId)) return [];
        return [{ record, columns: callColumns(record, key) }];
      });
      if (fresh.length === 0) return new Set<CallRecord>();
      const rows = fresh.map(({ record, columns }) => ({
        ...columns.call,
        ...foundBy(record, index),
        analysisState: firstState(record),
      }));
      await insertRows(tx, calls, rows);
      await insertParts(
        tx,
        tenantId,
        fresh.map(({ record, columns }) => [record.id, columns] as const),
      );
      const records = fresh.map(({ record }) => record);
      await countAndReview(tx, tenantId, records);
      return new Set(records);
    });
  }

  async get(tenantId: string, callId: string): Promise<StoredCall | undefined> {
    // One snapshot, so that a record is read consistently.
    return this.atOnce(
      tenantId,
      async (tx) => {
        const [call] = await tx
          .select()
          .from(calls)
          .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
        if (call === undefined) return undefined;
        const key = await this.keys.find(tx, tenantId, callId, 'text');
        const of = (table: typeof legs | typeof attachments | typeof turns | typeof events) =>
          and(eq(table.tenantId, tenantId), eq(table.callId, callId));
        const legRows = await tx.select().from(legs).where(of(legs)).orderBy(asc(legs.index));
        const attachmentRows = await tx.select().from(attachments).where(of(attachments)).orderBy(asc(attachments.index));
        const turnRows = await tx.select().from(turns).where(of(turns)).orderBy(asc(turns.index));
        const [eventRow] = await tx.select().from(events).where(of(events));
        const { analysisState, legalHold, recordingObject, recordingFormat = 'wav' as const, ...row } = present(call);
        const { recordingPath, audioErasedAtMs, textErasedAtMs, disposition } = row;
        const record = callRecord.parse({
          ...withoutNulls(call),
          ...(recordingPath === undefined ? {} : { recordingPath: inFormat(recordingPath, recordingFormat) }),
          ...openCall(call.personal, key),
          ...costOfRow(call),
          legs: legRows.map(withoutNulls),
          attachments: attachmentRows.map(withoutNulls),
          turns: turnRows.map((turn) => ({ ...withoutNulls(turn), ...openTurn(turn.index, turn.personal, key) })),
          timeline: openTimeline(eventRow?.timeline, key),
        });
        const keeping = { analysisState, legalHold, recordingObject, recordingFormat, audioErasedAtMs, textErasedAtMs };
        return { ...record, disposition, keeping };
      },
      { isolationLevel: 'repeatable read', accessMode: 'read only' },
    );
  }

  search(tenantId: string, query: CallQuery): Promise<CallPage> {
    return pageOfCalls(this.tenancy, this.keys, tenantId, query);
  }

  count(tenantId: string, query: Omit<CallQuery, 'limit' | 'before'>, atMost: number): Promise<number> {
    return countCalls(this.tenancy, this.keys, tenantId, query, atMost);
  }

  setLegalHold(tenantId: string, callId: string, on: boolean): Promise<boolean> {
    return this.#change(tenantId, callId, { legalHold: on });
  }

  async setDisposition(tenantId: string, callId: string, disposition: string | undefined): Promise<boolean> {
    const isKnown = await this.#change(tenantId, callId, { disposition: disposition ?? null });
    if (isKnown) await this.ask(tenantId, (session) => markCallStale(session, tenantId, callId));
    return isKnown;
  }

  async addCost(tenantId: string, callId: string, job: string, parts: readonly CostPart[]): Promise<boolean> {
    return this.atOnce(tenantId, async (tx) => {
      const isIt = and(eq(calls.tenantId, tenantId), eq(calls.id, callId));
      const [row] = await tx.select({ cost: calls.cost, later: calls.laterCost }).from(calls).where(isIt).for('update');
      if (row === undefined) return false;
      const laterCost = { ...row.later, [job]: parts };
      await tx
        .update(calls)
        .set({ laterCost, ...costColumns(row.cost ?? undefined, laterCost) })
        .where(isIt);
      await markCallStale(tx, tenantId, callId);
      return true;
    });
  }

  async analysisFailed(tenantId: string, callId: string): Promise<void> {
    // A call keeps an existing analysis when another one fails.
    await this.#change(tenantId, callId, { analysisState: 'failed' }, eq(calls.analysisState, 'pending'));
  }

  async awaitingAnalysis({ endedBeforeMs, limit }: { endedBeforeMs: number; limit: number }): Promise<readonly CallRef[]> {
    return inStoreErrors(
      this.tenancy.owner
        .select({ tenantId: calls.tenantId, callId: calls.id })
        .from(calls)
        .where(and(sql`${calls.analysisState} = 'pending'`, lt(calls.endedAtMs, endedBeforeMs)))
        .orderBy(asc(calls.endedAtMs))
        .limit(limit),
    );
  }

  async #change(tenantId: string, callId: string, change: Partial<typeof calls.$inferInsert>, where?: SQL): Promise<boolean> {
    const changed = await this.ask(tenantId, (session) =>
      session
        .update(calls)
        .set(change)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId), where))
        .returning({ id: calls.id }),
    );
    return changed.length > 0;
  }
}

/** The call's cost with what jobs have added. */
function costOfRow({ cost, laterCost }: typeof calls.$inferSelect): Pick<CallRecord, 'cost'> {
  if (cost === null) return { cost: undefined };
  return { cost: withParts(cost, Object.values(laterCost ?? {}).flat()) };
}

/** Terms a call is found by. */
function foundBy({ direction, from, to, turns: said, variables = {}, notes = [] }: CallRecord, index: BlindIndex) {
  const { person, ours } = partiesOf({ direction, from, to });
  return {
    partyHash: index.number(person) ?? null,
    lineHash: index.number(ours) ?? null,
    words: [
      ...index.words(...said.flatMap((turn) => [turn.callerText, turn.botHeardText]), ...Object.values(variables), ...notes),
      ...Object.entries(variables).map(([name, value]) => index.variable(name, value)),
    ],
  };
}

function firstState({ endedAtMs, carrier }: CallRecord): 'pending' | 'none' {
  return endedAtMs !== undefined && carrier !== IMPORTED ? 'pending' : 'none';
}

/** Has statistics count ended calls, and lists those that deserve a look. */
async function countAndReview(session: Session, tenantId: string, records: readonly CallRecord[]): Promise<void> {
  const ended = records.filter(({ endedAtMs }) => endedAtMs !== undefined);
  await markStale(
    session,
    tenantId,
    ended.map(({ startedAtMs }) => slotOf(startedAtMs)),
  );
  await keepFound(session, tenantId, ended);
}

/** Writes the parts of a tenant's new calls. */
async function insertParts(
  session: Session,
  tenantId: string,
  of: readonly (readonly [callId: string, columns: ReturnType<typeof callColumns>])[],
): Promise<void> {
  const legRows = of.flatMap(([callId, parts]) => parts.legs.map((row) => ({ ...row, tenantId, callId })));
  const attachmentRows = of.flatMap(([callId, parts]) => parts.attachments.map((row) => ({ ...row, tenantId, callId })));
  const turnRows = of.flatMap(([callId, parts]) => parts.turns.map((row) => ({ ...row, tenantId, callId })));
  const eventRows = of.map(([callId, parts]) => ({ ...parts.events, tenantId, callId }));
  await insertRows(session, legs, legRows);
  await insertRows(session, attachments, attachmentRows);
  await insertRows(session, turns, turnRows);
  await insertRows(session, events, eventRows);
}
