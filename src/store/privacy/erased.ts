import { and, eq, isNotNull } from 'drizzle-orm';
import { calls, erasures } from '../schema.ts';
import type { KeyKind } from './call-keys.ts';
import type { Session } from '../tenancy.ts';

/** Whether the words or the sound of a call were destroyed. Certain only while the call's key is locked: see `CallKeys.obtain`. */
export async function wasErased(session: Session, tenantId: string, callId: string, kind: KeyKind): Promise<boolean> {
  const erasedAt = kind === 'text' ? calls.textErasedAtMs : calls.audioErasedAtMs;
  const marks = await session
    .select({ callId: erasures.callId })
    .from(erasures)
    .where(and(eq(erasures.tenantId, tenantId), eq(erasures.callId, callId)))
    .unionAll(
      session
        .select({ callId: calls.id })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId), isNotNull(erasedAt))),
    );
  return marks.length > 0;
}
