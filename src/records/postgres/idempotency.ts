import { type SQL, and, eq, isNull, lt, or } from 'drizzle-orm';
import type { IdempotencyRepository, KeptAnswer, KeyClaim } from '../idempotency.ts';
import { idempotencyKeys as keys } from './schema.ts';
import { Repository } from './repository.ts';
import { inStoreErrors } from './tenancy.ts';

export class PostgresIdempotency extends Repository implements IdempotencyRepository {
  async claim(tenantId: string, key: string, request: Parameters<IdempotencyRepository['claim']>[2]): Promise<KeyClaim> {
    const { callId = null, fingerprint, forgetBeforeMs, abandonedBeforeMs } = request;
    const fresh = { callId, fingerprint, createdAtMs: Math.round(request.atMs), status: null, location: null, answer: null };
    const isOver = or(
      lt(keys.createdAtMs, forgetBeforeMs),
      and(isNull(keys.status), lt(keys.createdAtMs, abandonedBeforeMs), eq(keys.fingerprint, fingerprint)),
    );
    return this.ask(tenantId, async (session) => {
      // One statement, so that only one of two concurrent requests succeeds.
      const ours = await session
        .insert(keys)
        .values({ tenantId, key, ...fresh })
        .onConflictDoUpdate({ target: [keys.tenantId, keys.key], set: fresh, ...(isOver && { setWhere: isOver }) })
        .returning({ key: keys.key });
      if (ours.length > 0) return { kind: 'ours' };
      const [known] = await session.select().from(keys).where(isKey(tenantId, key));
      if (known === undefined) return { kind: 'busy' };
      if (known.fingerprint !== fingerprint) return { kind: 'taken' };
      if (known.status === null) return { kind: 'busy' };
      return {
        kind: 'answered',
        kept: { status: known.status, location: known.location ?? undefined, answer: known.answer },
      };
    });
  }

  async keep(tenantId: string, key: string, { status, location, answer }: KeptAnswer): Promise<void> {
    await this.ask(tenantId, (session) => session.update(keys).set({ status, location, answer }).where(isKey(tenantId, key)));
  }

  async release(tenantId: string, key: string): Promise<void> {
    await this.ask(tenantId, (session) => session.delete(keys).where(and(isKey(tenantId, key), isNull(keys.status))));
  }

  async forget(beforeMs: number): Promise<void> {
    await inStoreErrors(this.tenancy.owner.delete(keys).where(lt(keys.createdAtMs, beforeMs)));
  }
}

function isKey(tenantId: string, key: string): SQL | undefined {
  return and(eq(keys.tenantId, tenantId), eq(keys.key, key));
}
