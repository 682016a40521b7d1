import { and, asc, eq, isNull, lt, not, sql } from 'drizzle-orm';
import { COMPRESSED_FORMATS, inFormat } from '../../audio/recording-format.ts';
import type { CallRef, KeptRecording, RecordingRepository } from '../port.ts';
import { calls } from './schema.ts';
import { Repository } from './repository.ts';
import { inStoreErrors } from './tenancy.ts';

type Change = Partial<Pick<typeof calls.$inferInsert, 'recordingObject' | 'recordingFormat' | 'recordingWanted'>>;

export class PostgresRecordings extends Repository implements RecordingRepository {
  async find(tenantId: string, callId: string): Promise<KeptRecording | undefined> {
    const [row] = await this.ask(tenantId, (session) =>
      session
        .select({
          startedAtMs: calls.startedAtMs,
          path: calls.recordingPath,
          object: calls.recordingObject,
          format: calls.recordingFormat,
          wanted: calls.recordingWanted,
          legalHold: calls.legalHold,
          erasedAtMs: calls.audioErasedAtMs,
        })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId))),
    );
    if (row === undefined) return undefined;
    const { startedAtMs, path, object, legalHold } = row;
    const format = row.format ?? 'wav';
    return {
      startedAtMs,
      path: path === null ? undefined : inFormat(path, format),
      object: object ?? undefined,
      format,
      wanted: row.wanted ?? undefined,
      legalHold,
      isErased: row.erasedAtMs !== null,
    };
  }

  sealed(tenantId: string, callId: string, object: string): Promise<boolean> {
    const format = COMPRESSED_FORMATS.find((each) => inFormat(object, each) === object) ?? null;
    return this.#change(tenantId, callId, { recordingObject: object, recordingFormat: format });
  }

  compressed(
    ...[tenantId, callId, was, is]: Parameters<RecordingRepository['compressed']>
  ): ReturnType<RecordingRepository['compressed']> {
    const { object, format } = was;
    const isAsItWas = and(
      object === undefined ? isNull(calls.recordingObject) : eq(calls.recordingObject, object),
      format === 'wav' ? isNull(calls.recordingFormat) : eq(calls.recordingFormat, format),
      not(calls.legalHold),
    );
    const change = { recordingObject: is.object ?? null, recordingFormat: is.format };
    return this.#change(tenantId, callId, change, isAsItWas);
  }

  async settled(tenantId: string, callId: string): Promise<void> {
    await this.#change(tenantId, callId, { recordingWanted: null });
  }

  async toCompress(
    ...[{ endedBeforeMs, limit }]: Parameters<RecordingRepository['toCompress']>
  ): ReturnType<RecordingRepository['toCompress']> {
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select({ tenantId: calls.tenantId, callId: calls.id, format: calls.recordingWanted })
        .from(calls)
        .where(
          and(
            // As in its partial index.
            sql`recording_wanted IS NOT NULL AND NOT legal_hold`,
            lt(calls.endedAtMs, endedBeforeMs),
            sql`${calls.analysisState} <> 'pending'`,
          ),
        )
        .orderBy(asc(calls.endedAtMs))
        .limit(limit),
    );
    return rows.flatMap(({ format, ...ref }): readonly (CallRef & { format: NonNullable<typeof format> })[] =>
      format === null ? [] : [{ ...ref, format }],
    );
  }

  /** @returns false when the call is unknown, its audio was erased, or its state differs */
  async #change(tenantId: string, callId: string, change: Change, isAsAsked?: ReturnType<typeof and>): Promise<boolean> {
    const changed = await this.ask(tenantId, (session) =>
      session
        .update(calls)
        .set(change)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId), isNull(calls.audioErasedAtMs), isAsAsked))
        .returning({ id: calls.id }),
    );
    return changed.length > 0;
  }
}
