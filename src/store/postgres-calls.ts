import { and, asc, desc, eq, lt, lte, or, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { z } from 'zod';
import { errorText } from '../kernel/errors.ts';
import { StoreRecordError } from './errors.ts';
import type { CallPage, CallRecord, CallRepository, NewCallRecord } from './port.ts';
import { callRecord } from './record.ts';
import { attachments, calls, legs, turns } from './schema.ts';
import { storable } from './storable.ts';
import { unavailable } from './unavailable.ts';

const MAX_PAGE = 200;

/** Where a page ended: the start time and id of its last call. */
const cursor = z.tuple([z.number(), z.string()]);

export class PostgresCalls implements CallRepository {
  readonly #orm: NodePgDatabase;

  constructor(orm: NodePgDatabase) {
    this.#orm = orm;
  }

  async upsert(record: NewCallRecord): Promise<void> {
    const { legs: legRows, attachments: attachmentRows, turns: turnRows, ...call } = parsed(record);
    const key = { tenantId: call.tenantId, callId: call.id };
    const values = { ...call, ...nullsFor(call), turnCount: turnRows.length };
    const { tenantId: _tenantId, id: _id, ...changes } = values;
    await unavailable(
      this.#orm.transaction(async (tx) => {
        const written = await tx
          .insert(calls)
          .values(values)
          .onConflictDoUpdate({
            target: [calls.tenantId, calls.id],
            set: changes,
            setWhere: lte(calls.revision, call.revision),
          })
          // A row that no earlier version precedes has xmax 0 (PostgreSQL manual, "System Columns").
          .returning({ inserted: sql<boolean>`xmax = 0` });
        const [outcome] = written;
        if (outcome === undefined) return;
        for (const table of outcome.inserted ? [] : [legs, attachments, turns]) {
          await tx.delete(table).where(and(eq(table.tenantId, key.tenantId), eq(table.callId, key.callId)));
        }
        if (legRows.length > 0) await tx.insert(legs).values(legRows.map((row) => ({ ...row, ...key })));
        if (attachmentRows.length > 0) await tx.insert(attachments).values(attachmentRows.map((row) => ({ ...row, ...key })));
        if (turnRows.length > 0) await tx.insert(turns).values(turnRows.map((row) => ({ ...row, ...key })));
      }),
    );
  }

  async get(tenantId: string, callId: string): Promise<CallRecord | undefined> {
    return unavailable(
      // One snapshot: a record is never read half old, half new.
      this.#orm.transaction(
        async (tx) => {
          const [call] = await tx
            .select()
            .from(calls)
            .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
          if (call === undefined) return undefined;
          const of = (table: typeof legs | typeof attachments | typeof turns) =>
            and(eq(table.tenantId, tenantId), eq(table.callId, callId));
          const parts = {
            legs: await tx.select().from(legs).where(of(legs)).orderBy(asc(legs.index)),
            attachments: await tx.select().from(attachments).where(of(attachments)).orderBy(asc(attachments.index)),
            turns: await tx.select().from(turns).where(of(turns)).orderBy(asc(turns.index)),
          };
          return callRecord.parse(withoutNulls({ ...call, ...parts }));
        },
        { isolationLevel: 'repeatable read', accessMode: 'read only' },
      ),
    );
  }

  async listRecent(tenantId: string, options: { limit: number; before?: string | undefined }): Promise<CallPage> {
    const { limit, before } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) throw new RangeError(`limit is 1 to ${MAX_PAGE}`);
    const after = before === undefined ? undefined : cursorOf(before);
    const older =
      after === undefined
        ? undefined
        : or(lt(calls.startedAtMs, after[0]), and(eq(calls.startedAtMs, after[0]), lt(calls.id, after[1])));
    const rows = await unavailable(
      this.#orm
        .select(listed)
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), older))
        .orderBy(desc(calls.startedAtMs), desc(calls.id))
        .limit(limit + 1),
    );
    const page = rows.slice(0, limit).map((row) => ({
      ...row,
      endedAtMs: row.endedAtMs ?? undefined,
      endReason: row.endReason ?? undefined,
    }));
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { calls: page, next: last === undefined ? undefined : JSON.stringify([last.startedAtMs, last.id]) };
  }
}

const listed = {
  id: calls.id,
  botName: calls.botName,
  carrier: calls.carrier,
  from: calls.from,
  to: calls.to,
  direction: calls.direction,
  language: calls.language,
  startedAtMs: calls.startedAtMs,
  endedAtMs: calls.endedAtMs,
  endReason: calls.endReason,
  turnCount: calls.turnCount,
};

/** A newer revision replaces every column: what it does not say is not known any more. */
function nullsFor(call: Omit<CallRecord, 'legs' | 'attachments' | 'turns'>) {
  return {
    answeredAtMs: call.answeredAtMs ?? null,
    endedAtMs: call.endedAtMs ?? null,
    endReason: call.endReason ?? null,
    recordingPath: call.recordingPath ?? null,
    recordingSidecarPath: call.recordingSidecarPath ?? null,
    recordingStartedAtMs: call.recordingStartedAtMs ?? null,
  };
}

function parsed(record: NewCallRecord): CallRecord {
  const result = callRecord.safeParse(storable(record));
  if (!result.success) {
    throw new StoreRecordError(`not a call record: ${z.prettifyError(result.error)}`, { facts: { callId: record.id } });
  }
  return result.data;
}

function cursorOf(text: string): [number, string] {
  try {
    return cursor.parse(JSON.parse(text));
  } catch (error) {
    throw new StoreRecordError(`not a place in a list of calls: ${errorText(error)}`);
  }
}

/** SQL has null where our records have nothing. Only columns and rows: nulls inside a JSON column are somebody's data. */
function withoutNulls(row: Record<string, unknown>): Record<string, unknown> {
  const rows = new Set(['legs', 'attachments', 'turns']);
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, rows.has(key) && Array.isArray(value) ? value.map(withoutNulls) : value]),
  );
}
