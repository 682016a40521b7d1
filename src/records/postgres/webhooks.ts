import { type SQL, and, asc, desc, eq, lt, sql } from 'drizzle-orm';
import { checkLimit, equals, pageOf, pastCursor, present } from './query.ts';
import type { DeliveryRef, WebhookDelivery, WebhookPage, WebhookRepository } from '../port.ts';
import { wrappedTextKey, wasErased } from './keys.ts';
import { webhookDeliveries as deliveries } from './schema.ts';
import { storable } from '../record.ts';
import { Repository } from './repository.ts';
import { inStoreErrors } from './tenancy.ts';

export class PostgresWebhooks extends Repository implements WebhookRepository {
  async add(delivery: Parameters<WebhookRepository['add']>[0]): Promise<boolean> {
    const { tenantId, id, callId, endpoint, type } = delivery;
    const createdAtMs = Math.round(delivery.createdAtMs);
    return this.atOnce(tenantId, async (tx) => {
      const key = await this.keys.obtain(tx, tenantId, callId, 'text');
      if (await wasErased(tx, tenantId, callId, 'text')) {
        await this.keys.destroy(tx, tenantId, callId, 'text');
        return false;
      }
      const body = key.seal(`webhook/${id}`, storable(delivery.body));
      const kept = { state: 'pending', attempts: 0, createdAtMs, updatedAtMs: createdAtMs, body } as const;
      await tx
        .insert(deliveries)
        .values({ tenantId, id, callId, endpoint, type, ...kept })
        .onConflictDoNothing();
      return true;
    });
  }

  async get(tenantId: string, id: string): Promise<WebhookDelivery | undefined> {
    const [found] = await this.#read(tenantId, and(eq(deliveries.tenantId, tenantId), eq(deliveries.id, id)), 1);
    return found;
  }

  async tried({ tenantId, id }: DeliveryRef, outcome: Parameters<WebhookRepository['tried']>[1]): Promise<void> {
    const { state, status, reason, atMs } = outcome;
    await this.#change(tenantId, id, {
      state,
      status: status ?? null,
      reason: reason ?? null,
      updatedAtMs: Math.round(atMs),
      attempts: sql`${deliveries.attempts} + 1`,
    });
  }

  replay(tenantId: string, id: string, atMs: number): Promise<boolean> {
    return this.#change(tenantId, id, { state: 'pending', updatedAtMs: Math.round(atMs) });
  }

  async page(tenantId: string, query: Parameters<WebhookRepository['page']>[1]): Promise<WebhookPage> {
    const { limit, before, callId, endpoint, state } = query;
    checkLimit(limit);
    const past = pastCursor(before, [deliveries.createdAtMs, deliveries.id]);
    const where = and(eq(deliveries.tenantId, tenantId), equals(deliveries, { callId, endpoint, state }), past);
    const { page, next } = pageOf(await this.#read(tenantId, where, limit + 1), limit, (row) => [row.createdAtMs, row.id]);
    return { deliveries: page, next };
  }

  async pending(options: { untouchedSinceMs: number; limit: number }): Promise<readonly DeliveryRef[]> {
    return inStoreErrors(
      this.tenancy.owner
        .select({ tenantId: deliveries.tenantId, id: deliveries.id })
        .from(deliveries)
        .where(and(sql`${deliveries.state} = 'pending'`, lt(deliveries.updatedAtMs, options.untouchedSinceMs)))
        .orderBy(asc(deliveries.updatedAtMs))
        .limit(options.limit),
    );
  }

  async #read(tenantId: string, where: SQL | undefined, limit: number): Promise<WebhookDelivery[]> {
    const rows = await this.ask(tenantId, (session) =>
      session
        .select({ row: deliveries, wrapped: wrappedTextKey('webhook_deliveries') })
        .from(deliveries)
        .where(where)
        .orderBy(desc(deliveries.createdAtMs), desc(deliveries.id))
        .limit(limit),
    );
    return rows.map(({ row, wrapped }) => {
      const key = wrapped === null ? undefined : this.keys.open(tenantId, row.callId, 'text', wrapped);
      const body = key?.open(`webhook/${row.id}`, row.body);
      return { ...present(row), body };
    });
  }

  async #change(
    tenantId: string,
    id: string,
    change: { [Column in keyof typeof deliveries.$inferInsert]?: (typeof deliveries.$inferInsert)[Column] | SQL },
  ): Promise<boolean> {
    const changed = await this.ask(tenantId, (session) =>
      session
        .update(deliveries)
        .set(change)
        .where(and(eq(deliveries.tenantId, tenantId), eq(deliveries.id, id)))
        .returning({ id: deliveries.id }),
    );
    return changed.length > 0;
  }
}
