import { and, asc, eq, isNull, lt, lte, sql } from 'drizzle-orm';
import { IMPORTED, callRecord } from './record.ts';
import { callColumns, checkedRecord, openCall, openTimeline, openTurn, withoutNulls } from './call-rows.ts';
import { pageOfCalls } from './call-search.ts';
import type { CallPage, CallQuery, CallRef, CallRepository, NewCallRecord, StoredCall } from './port.ts';
import type { CallKeys } from './privacy/call-keys.ts';
import { wasErased } from './privacy/erased.ts';
import { attachments, calls, events, legs, turns } from './schema.ts';
import type { Tenancy } from './tenancy.ts';
import { unavailable } from './unavailable.ts';

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
    const index = await unavailable(this.#keys.index(tenantId));
    const [party, line] = record.direction === 'inbound' ? [record.from, record.to] : [record.to, record.from];
    const found = {
      partyHash: index.number(party) ?? null,
      lineHash: index.number(line) ?? null,
      words: index.words(...record.turns.flatMap((turn) => [turn.callerText, turn.botHeardText])),
    };
    const toAnalyse = record.endedAtMs !== undefined && record.carrier !== IMPORTED;
    await unavailable(
      this.#tenancy.atOnce(tenantId, async (tx) => {
        const key = await this.#keys.obtain(tx, tenantId, callId, 'text');
        if (await wasErased(tx, tenantId, callId, 'text')) {
          await this.#keys.destroy(tx, tenantId, callId, 'text');
          return;
        }
        const columns = callColumns(record, key);
        const values = { ...columns.call, ...found, analysisState: toAnalyse ? ('pending' as const) : ('none' as const) };
        const { tenantId: _tenantId, id: _id, analysisState, ...changes } = values;
        const written = await tx
          .insert(calls)
          .values(values)
          .onConflictDoUpdate({
            target: [calls.tenantId, calls.id],
            set: {
              ...changes,
              analysisState: sql`CASE ${calls.analysisState} WHEN 'none' THEN ${analysisState} ELSE ${calls.analysisState} END`,
            },
            setWhere: lte(calls.revision, record.revision),
          })
          // A row that no earlier version precedes has xmax 0 (PostgreSQL manual, "System Columns").
          .returning({ inserted: sql<boolean>`xmax = 0` });
        const [outcome] = written;
        if (outcome === undefined) return;
        for (const table of outcome.inserted ? [] : [legs, attachments, turns, events]) {
          await tx.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.callId, callId)));
        }
        const of = { tenantId, callId };
        if (columns.legs.length > 0) await tx.insert(legs).values(columns.legs.map((row) => ({ ...row, ...of })));
        if (columns.attachments.length > 0) {
          await tx.insert(attachments).values(columns.attachments.map((row) => ({ ...row, ...of })));
        }
        if (columns.turns.length > 0) await tx.insert(turns).values(columns.turns.map((row) => ({ ...row, ...of })));
        await tx.insert(events).values({ ...columns.events, ...of });
      }),
    );
  }

  async get(tenantId: string, callId: string): Promise<StoredCall | undefined> {
    return unavailable(
      // One snapshot: a record is never read half old, half new.
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
          const record = callRecord.parse({
            ...withoutNulls(call),
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

  setLegalHold(tenantId: string, callId: string, on: boolean): Promise<boolean> {
    return this.#change(tenantId, callId, { legalHold: on });
  }

  setDisposition(tenantId: string, callId: string, disposition: string | undefined): Promise<boolean> {
    return this.#change(tenantId, callId, { disposition: disposition ?? null });
  }

  async analysisFailed(tenantId: string, callId: string): Promise<void> {
    await this.#change(tenantId, callId, { analysisState: 'failed' });
  }

  async recordingKept(tenantId: string, callId: string, object: string): Promise<boolean> {
    const changed = await unavailable(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .update(calls)
          .set({ recordingObject: object })
          .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId), isNull(calls.audioErasedAtMs)))
          .returning({ id: calls.id }),
      ),
    );
    return changed.length > 0;
  }

  async awaitingAnalysis({ endedBeforeMs, limit }: { endedBeforeMs: number; limit: number }): Promise<readonly CallRef[]> {
    return unavailable(
      this.#tenancy.owner
        .select({ tenantId: calls.tenantId, callId: calls.id })
        .from(calls)
        .where(and(sql`${calls.analysisState} = 'pending'`, lt(calls.endedAtMs, endedBeforeMs)))
        .orderBy(asc(calls.endedAtMs))
        .limit(limit),
    );
  }

  async #change(tenantId: string, callId: string, change: Partial<typeof calls.$inferInsert>): Promise<boolean> {
    const changed = await unavailable(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .update(calls)
          .set(change)
          .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)))
          .returning({ id: calls.id }),
      ),
    );
    return changed.length > 0;
  }
}
