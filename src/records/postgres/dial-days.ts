import { and, eq, gte, inArray, lt, lte, sql } from 'drizzle-orm';
import type { AttemptRepository, CallSum, DaySpending, Decided } from '../dialling.ts';
import { dialDays } from './dialling-schema.ts';
import type { Session } from './tenancy.ts';

type Day = Parameters<AttemptRepository['decide']>[1]['day'];

/** Asker of the tenant's total row. */
const TENANT = '';
const NOTHING: CallSum = { calls: 0, costMicros: 0 };
const DAY_MS = 86_400_000;
/** How long days are kept, for reports. */
const KEPT_DAYS = 400;

/** The calls of a day, within the decision's transaction, which holds the lock on the tenant's log. */
export async function spendingOf(tx: Session, tenantId: string, day: Day): Promise<DaySpending> {
  if (day === undefined) return { tenant: NOTHING, asker: undefined, earlier: [], isTold: false };
  const { startMs, earlier, asker } = day;
  const askers = asker === undefined ? [TENANT] : [TENANT, asker];
  const since = gte(dialDays.dayMs, startMs - earlier * DAY_MS);
  const rows = await tx
    .select()
    .from(dialDays)
    .where(and(eq(dialDays.tenantId, tenantId), since, lte(dialDays.dayMs, startMs), inArray(dialDays.asker, askers)));
  const today = (name: string) => rows.find((row) => row.dayMs === startMs && row.asker === name);
  return {
    tenant: today(TENANT) ?? NOTHING,
    asker: asker === undefined ? undefined : (today(asker) ?? NOTHING),
    earlier: rows.filter((row) => row.dayMs < startMs && row.asker === TENANT).map(({ calls }) => calls),
    isTold: today(TENANT)?.isTold ?? false,
  };
}

/** Adds allowed calls to the day. */
export async function spend(tx: Session, tenantId: string, day: Day, spent: Decided<unknown>['spent']): Promise<void> {
  if (day === undefined || spent === undefined || spent.calls === 0) return;
  const { startMs: dayMs, asker } = day;
  const { calls, costMicros, isTold } = spent;
  const askers = asker === undefined ? [TENANT] : [TENANT, asker];
  const rows = await tx
    .insert(dialDays)
    .values(askers.map((name) => ({ tenantId, dayMs, asker: name, calls, costMicros, isTold: isTold && name === TENANT })))
    .onConflictDoUpdate({
      target: [dialDays.tenantId, dialDays.dayMs, dialDays.asker],
      set: {
        calls: sql`${dialDays.calls} + excluded.calls`,
        costMicros: sql`${dialDays.costMicros} + excluded.cost_micros`,
        isTold: sql`${dialDays.isTold} OR excluded.is_told`,
      },
    })
    .returning({ calls: dialDays.calls });
  // The first calls of a day.
  if (rows.some((row) => row.calls === calls))
    await tx.delete(dialDays).where(and(eq(dialDays.tenantId, tenantId), lt(dialDays.dayMs, dayMs - KEPT_DAYS * DAY_MS)));
}
