import { and, eq, inArray, isNotNull } from 'drizzle-orm';
import { calls, erasures } from './schema.ts';
import type { KeyKind } from './call-keys.ts';
import type { Session } from './tenancy.ts';

/** Whether the words or the sound of a call were destroyed. Certain only while the call's key is locked: see `CallKeys.obtain`. */
export async function wasErased(session: Session, tenantId: string, callId: string, kind: KeyKind): Promise<boolean> {
  return (await erasedAmong(session, tenantId, [callId], kind)).size > 0;
}

/** The same for several calls. @returns the ids of those that were */
export async function erasedAmong(
  session: Session,
  tenantId: string,
  callIds: readonly string[],
  kind: KeyKind,
): Promise<ReadonlySet<string>> {
  const ids = [...callIds];
  const erasedAt = kind === 'text' ? calls.textErasedAtMs : calls.audioErasedAtMs;
  const marks = await session
    .select({ callId: erasures.callId })
    .from(erasures)
    .where(and(eq(erasures.tenantId, tenantId), inArray(erasures.callId, ids)))
    .unionAll(
      session
        .select({ callId: calls.id })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), inArray(calls.id, ids), isNotNull(erasedAt))),
    );
  return new Set(marks.map(({ callId }) => callId));
}
