import { sql, and, asc, eq, lt, lte, type SQL } from 'drizzle-orm';
import { type Session, type Tenancy, inStoreErrors } from './tenancy.ts';
import { inFormat } from '../../audio/recording-format.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { type CallRecord, IMPORTED, callRecord } from '../record.ts';
import { callColumns, checkedRecord, openCall, openTimeline, openTurn, withoutNulls } from './call-rows.ts';
import { countCalls, pageOfCalls } from './call-search.ts';
import type { CallPage, CallQuery, CallRef, CallRepository, NewCallRecord, StoredCall } from '../port.ts';
import { type CallKeys, erasedAmong, wasErased } from './keys.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import { insertRows } from './query.ts';
import { attachments, calls, events, legs, turns } from './schema.ts';

export class PostgresCalls implements CallRepository {
  readonly #tenancy: Tenancy;
  readonly #keys: CallKeys;

  constructor(tenancy: Tenancy, keys: CallKeys) {
    this.#tenancy = tenancy;
    this.#keys = keys;
  }

  async upsert(given: NewCallRecord): Promise<void> {
    const record = checkedRecord(given);
    const { tenantId, id: callId } = record;
    const index = await inStoreErrors(this.#keys.index(tenantId));
    await inStoreErrors(
      this.#tenancy.atOnce(tenantId, async (tx) => {
        const key = await this.#keys.obtain(tx, tenantId, callId, 'text');
        if (await wasErased(tx, tenantId, callId, 'text')) {
          await this.#keys.destroy(tx, tenantId, callId, 'text');
          return;
        }
        const columns = callColumns(record, key);
        const values = { ...columns.call, ...foundBy(record, index), analysisState: firstState(record) };
        const { tenantId: _tenantId, id: _id, analysisState, recordingWanted, ...changes } = values;
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
      }),
    );
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
    const index = await inStoreErrors(this.#keys.index(tenantId));
    const firsts = new Map<string, CallRecord>();
    for (const record of given) if (!firsts.has(record.id)) firsts.set(record.id, record);
    // In one order, to avoid deadlocks between writers of the same calls.
    const ids = [...firsts.keys()].sort();
    return inStoreErrors(
      this.#tenancy.atOnce(tenantId, async (tx) => {
        const keys = await this.#keys.make(tx, tenantId, ids, 'text');
        const erased = await erasedAmong(tx, tenantId, [...keys.keys()], 'text');
        for (const callId of erased) await this.#keys.destroy(tx, tenantId, callId, 'text');
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
        return new Set(fresh.map(({ record }) => record));
      }),
    );
  }

  async get(tenantId: string, callId: string): Promise<StoredCall | undefined> {
    return inStoreErrors(
      // One snapshot, so that a record is read consistently.
      this.#tenancy.atOnce(
        tenantId,
        async (tx) => {
          const [call] = await tx
            .select()
            .from(calls)
            .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
          if (call === undefined) return undefined;
          const key = await this.#keys.find(tx, tenantId, callId, 'text');
          const of = (table: typeof legs | typeof attachments | typeof turns | typeof events) =>
            and(eq(table.tenantId, tenantId), eq(table.callId, callId));
          const legRows = await tx.select().from(legs).where(of(legs)).orderBy(asc(legs.index));
          const attachmentRows = await tx.select().from(attachments).where(of(attachments)).orderBy(asc(attachments.index));
          const turnRows = await tx.select().from(turns).where(of(turns)).orderBy(asc(turns.index));
          const [eventRow] = await tx.select().from(events).where(of(events));
          const { recordingPath, recordingFormat } = call;
          const record = callRecord.parse({
            ...withoutNulls(call),
            ...(recordingPath === null ? {} : { recordingPath: inFormat(recordingPath, recordingFormat ?? 'wav') }),
            ...openCall(call.personal, key),
            legs: legRows.map(withoutNulls),
            attachments: attachmentRows.map(withoutNulls),
            turns: turnRows.map((row) => ({ ...withoutNulls(row), ...openTurn(row.index, row.personal, key) })),
            timeline: openTimeline(eventRow?.timeline, key),
          });
          return {
            ...record,
            disposition: call.disposition ?? undefined,
            keeping: {
              analysisState: call.analysisState,
              legalHold: call.legalHold,
              recordingObject: call.recordingObject ?? undefined,
              recordingFormat: call.recordingFormat ?? 'wav',
              audioErasedAtMs: call.audioErasedAtMs ?? undefined,
              textErasedAtMs: call.textErasedAtMs ?? undefined,
            },
          };
        },
        { isolationLevel: 'repeatable read', accessMode: 'read only' },
      ),
    );
  }

  search(tenantId: string, query: CallQuery): Promise<CallPage> {
    return pageOfCalls(this.#tenancy, this.#keys, tenantId, query);
  }

  count(tenantId: string, query: Omit<CallQuery, 'limit' | 'before'>, atMost: number): Promise<number> {
    return countCalls(this.#tenancy, this.#keys, tenantId, query, atMost);
  }

  setLegalHold(tenantId: string, callId: string, on: boolean): Promise<boolean> {
    return this.#change(tenantId, callId, { legalHold: on });
  }

  setDisposition(tenantId: string, callId: string, disposition: string | undefined): Promise<boolean> {
    return this.#change(tenantId, callId, { disposition: disposition ?? null });
  }

  async analysisFailed(tenantId: string, callId: string): Promise<void> {
    // A call keeps an existing analysis when another one fails.
    await this.#change(tenantId, callId, { analysisState: 'failed' }, eq(calls.analysisState, 'pending'));
  }

  async awaitingAnalysis({ endedBeforeMs, limit }: { endedBeforeMs: number; limit: number }): Promise<readonly CallRef[]> {
    return inStoreErrors(
      this.#tenancy.owner
        .select({ tenantId: calls.tenantId, callId: calls.id })
        .from(calls)
        .where(and(sql`${calls.analysisState} = 'pending'`, lt(calls.endedAtMs, endedBeforeMs)))
        .orderBy(asc(calls.endedAtMs))
        .limit(limit),
    );
  }

  async #change(tenantId: string, callId: string, change: Partial<typeof calls.$inferInsert>, where?: SQL): Promise<boolean> {
    const changed = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .update(calls)
          .set(change)
          .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId), where))
          .returning({ id: calls.id }),
      ),
    );
    return changed.length > 0;
  }
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

/** Writes the parts of a tenant's new calls. */
async function insertParts(
  session: Session,
  tenantId: string,
  of: readonly (readonly [callId: string, columns: ReturnType<typeof callColumns>])[],
): Promise<void> {
  const rowsOf = <Row>(rows: (columns: ReturnType<typeof callColumns>) => readonly Row[]) =>
    of.flatMap(([callId, columns]) => rows(columns).map((row) => ({ ...row, tenantId, callId })));
  await insertRows(
    session,
    legs,
    rowsOf((columns) => columns.legs),
  );
  await insertRows(
    session,
    attachments,
    rowsOf((columns) => columns.attachments),
  );
  await insertRows(
    session,
    turns,
    rowsOf((columns) => columns.turns),
  );
  await insertRows(
    session,
    events,
    rowsOf((columns) => [columns.events]),
  );
}
