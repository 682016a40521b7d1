import { type SQL, and, asc, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import { type PaceKey, paceStarts } from '../../kernel/pace.ts';
import type {
  CampaignCounts,
  CampaignReach,
  CampaignRef,
  CampaignRepository,
  CampaignState,
  ContactState,
  OutcomeCounts,
  StoredCampaign,
} from '../campaigns.ts';
import { type Disposition, WITH_A_PERSON } from '../dialling.ts';
import { storable } from '../record.ts';
import { campaigns, contacts, paces, attempts } from './dialling-schema.ts';
import { blankContacts, isCampaign, ofCampaign, WAITS } from './contact-rows.ts';
import { checkLimit, equals, pageOf, pastCursor, present } from './query.ts';
import { Repository } from './repository.ts';
import { inStoreErrors } from './tenancy.ts';

/** Contacts blanked at once: a million in one statement would lock the campaign for a minute. */
const ERASED_AT_ONCE = 20_000;
export class PostgresCampaigns extends Repository implements CampaignRepository {
  async create(campaign: Parameters<CampaignRepository['create']>[0]): Promise<StoredCampaign> {
    const { tenantId, id, name, settings, createdBy } = campaign;
    const atMs = Math.round(campaign.createdAtMs);
    const kept = { name: String(storable(name)), settings: storable(settings), createdAtMs: atMs, changedAtMs: atMs };
    const [made] = await this.ask(tenantId, (session) =>
      session
        .insert(campaigns)
        .values({ tenantId, id, state: 'draft', createdBy, ...kept })
        .onConflictDoNothing()
        .returning(),
    );
    const known = made === undefined ? await this.get(tenantId, id) : campaignOf(made);
    if (known === undefined) throw new TypeError('a campaign that was made is there');
    return known;
  }

  async get(tenantId: string, id: string): Promise<StoredCampaign | undefined> {
    const [row] = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(campaigns)
        .where(isCampaign({ tenantId, campaignId: id })),
    );
    return row === undefined ? undefined : campaignOf(row);
  }

  async page(tenantId: string, query: Parameters<CampaignRepository['page']>[1]): ReturnType<CampaignRepository['page']> {
    const { limit, before, state } = query;
    checkLimit(limit);
    const past = pastCursor(before, [campaigns.createdAtMs, campaigns.id]);
    const where = and(eq(campaigns.tenantId, tenantId), equals(campaigns, { state }), past);
    const rows = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(campaigns)
        .where(where)
        .orderBy(desc(campaigns.createdAtMs), desc(campaigns.id))
        .limit(limit + 1),
    );
    const { page, next } = pageOf(rows, limit, (row) => [row.createdAtMs, row.id]);
    return { campaigns: page.map(campaignOf), next };
  }

  async change(tenantId: string, id: string, { name, settings }: { name: string; settings: unknown }): Promise<boolean> {
    const changed = await this.ask(tenantId, (session) =>
      session
        .update(campaigns)
        .set({ name: String(storable(name)), settings: storable(settings) })
        .where(and(isCampaign({ tenantId, campaignId: id }), sql`${campaigns.state} <> 'stopped'`))
        .returning({ id: campaigns.id }),
    );
    return changed.length > 0;
  }

  async setState(
    ref: CampaignRef,
    from: readonly CampaignState[],
    to: CampaignState,
    { reason, by, atMs }: Parameters<CampaignRepository['setState']>[3],
  ): Promise<boolean> {
    const changedAtMs = Math.round(atMs);
    const ended = to === 'finished' || to === 'stopped';
    const moved = await this.ask(ref.tenantId, (session) =>
      session
        .update(campaigns)
        .set({
          state: to,
          reason: reason === undefined ? null : String(storable(reason)),
          changedBy: by ?? null,
          // Keeps two changes within a millisecond apart for announcements.
          changedAtMs: sql`GREATEST(${changedAtMs}::bigint, ${campaigns.changedAtMs} + 1)`,
          endedAtMs: ended ? changedAtMs : null,
          ...(to === 'running' ? { startedAtMs: sql`COALESCE(${campaigns.startedAtMs}, ${changedAtMs}::bigint)` } : {}),
        })
        .where(and(isCampaign(ref), inArray(campaigns.state, [...from])))
        .returning({ id: campaigns.id }),
    );
    return moved.length > 0;
  }

  finish(ref: CampaignRef, atMs: number): Promise<boolean> {
    return this.atOnce(ref.tenantId, async (tx) => {
      // Locked against concurrent additions of contacts.
      const [campaign] = await tx.select({ state: campaigns.state }).from(campaigns).where(isCampaign(ref)).for('update');
      if (campaign?.state !== 'running') return false;
      const { rows } = await tx.execute(
        sql`SELECT FROM ${contacts} WHERE ${ofCampaign(ref)} AND (${WAITS} OR state = 'leased') LIMIT 1`,
      );
      if (rows.length > 0) return false;
      const endedAtMs = Math.round(atMs);
      const changedAtMs = sql`GREATEST(${endedAtMs}::bigint, ${campaigns.changedAtMs} + 1)`;
      await tx
        .update(campaigns)
        .set({ state: 'finished', reason: null, changedBy: 'gateway', changedAtMs, endedAtMs })
        .where(isCampaign(ref));
      return true;
    });
  }

  async running(): Promise<readonly StoredCampaign[]> {
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select()
        .from(campaigns)
        .where(eq(campaigns.state, 'running'))
        .orderBy(asc(campaigns.createdAtMs), asc(campaigns.id)),
    );
    return rows.map(campaignOf);
  }

  stoppedWithOpenContacts(limit: number): Promise<readonly CampaignRef[]> {
    const open = sql`EXISTS (SELECT FROM ${contacts} c WHERE c.tenant_id = ${campaigns.tenantId} AND c.campaign_id = ${campaigns.id} AND c.${WAITS})`;
    return inStoreErrors(
      this.tenancy.owner
        .select({ tenantId: campaigns.tenantId, campaignId: campaigns.id })
        .from(campaigns)
        .where(and(eq(campaigns.state, 'stopped'), open))
        .limit(limit),
    );
  }

  async counts({ tenantId, campaignId }: CampaignRef): Promise<CampaignCounts> {
    return (await this.countsOf(tenantId, [campaignId])).get(campaignId) ?? countsFrom([]);
  }

  async countsOf(tenantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, CampaignCounts>> {
    const { campaignId, state, disposition } = contacts;
    const rows = await this.ask(tenantId, (session) =>
      session
        .select({ campaignId, state, disposition, count: sql<number>`count(*)::int` })
        .from(contacts)
        .where(and(eq(contacts.tenantId, tenantId), inArray(campaignId, [...ids])))
        .groupBy(campaignId, state, disposition),
    );
    return new Map(ids.map((id) => [id, countsFrom(rows.filter((row) => row.campaignId === id))]));
  }

  async reach(ref: CampaignRef): Promise<CampaignReach> {
    const { tenantId, campaignId } = ref;
    const people = (which: SQL): SQL => sql`(count(DISTINCT contact_id) FILTER (WHERE ${which}))::int`;
    const spoken = sql`disposition = ANY(${sql.param([...WITH_A_PERSON])}::text[])`;
    const [reached, refused, waiting] = await this.ask(tenantId, async (session) => [
      await session.execute<Pick<CampaignReach, 'called' | 'answered' | 'person'>>(sql`
        SELECT ${people(sql`placed_at_ms IS NOT NULL`)} AS called, ${people(sql`answered_at_ms IS NOT NULL`)} AS answered, ${people(spoken)} AS person
        FROM ${attempts} WHERE tenant_id = ${tenantId} AND campaign_id = ${campaignId}`),
      await session.execute<NamedCount>(sql`
        SELECT COALESCE(cause, 'unknown') AS name, count(*)::int AS count FROM ${attempts}
        WHERE tenant_id = ${tenantId} AND campaign_id = ${campaignId} AND disposition = 'refused' GROUP BY 1`),
      await session.execute<NamedCount>(sql`
        SELECT cause AS name, count(*)::int AS count FROM ${contacts}
        WHERE ${ofCampaign(ref)} AND ${WAITS} AND cause IS NOT NULL GROUP BY 1`),
    ]);
    const byName = (rows: readonly NamedCount[]) => Object.fromEntries(rows.map(({ name, count }) => [name, count]));
    const { called = 0, answered = 0, person = 0 } = reached.rows[0] ?? {};
    return { called, answered, person, refusals: byName(refused.rows), putOff: byName(waiting.rows) };
  }

  async outcomes(ref: CampaignRef, endedSinceMs: readonly number[]): Promise<OutcomeCounts> {
    if (endedSinceMs.length === 0) return new Map();
    const sinceMs = endedSinceMs.map((each) => Math.floor(each));
    const counts = sinceMs.map((each) => sql`(count(*) FILTER (WHERE ended_at_ms >= ${each}))::int`);
    const rows = await this.ask(ref.tenantId, (session) =>
      session
        .select({ disposition: attempts.disposition, counts: sql<number[]>`json_build_array(${sql.join(counts, sql`, `)})` })
        .from(attempts)
        .where(
          and(
            eq(attempts.tenantId, ref.tenantId),
            eq(attempts.campaignId, ref.campaignId),
            sql`${attempts.endedAtMs} >= ${Math.min(...sinceMs)}`,
          ),
        )
        .groupBy(attempts.disposition),
    );
    return new Map(rows.flatMap(({ disposition, counts: of }) => (disposition === null ? [] : [[disposition, of] as const])));
  }

  async paces(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select()
        .from(paces)
        .where(inArray(paces.key, [...keys])),
    );
    return new Map(rows.map(({ key, freeAtMs }) => [key, freeAtMs]));
  }

  takePace(calls: readonly (readonly PaceKey[])[], nowMs: number): Promise<readonly number[]> {
    // In one order everywhere, to avoid deadlocks.
    const keys = [...new Set(calls.flat().map(({ key }) => key))].sort();
    if (keys.length === 0) return Promise.resolve(calls.map(() => nowMs));
    return inStoreErrors(
      this.tenancy.atOnceForAll(async (tx) => {
        const { rows } = await tx.execute<{ key: string; free_at_ms: number }>(sql`
          INSERT INTO ${paces} (key, free_at_ms)
          SELECT key, 0 FROM unnest(${sql.param(keys)}::text[]) AS given(key)
          ON CONFLICT (key) DO UPDATE SET key = EXCLUDED.key
          RETURNING key, free_at_ms`);
        const freeAtMs = new Map(rows.map((row) => [row.key, row.free_at_ms]));
        const starts = paceStarts(calls, freeAtMs, nowMs);
        await tx.execute(sql`
          UPDATE ${paces} AS p SET free_at_ms = given.free_at_ms
          FROM unnest(${sql.param([...freeAtMs.keys()])}::text[], ${sql.param([...freeAtMs.values()])}::float8[]) AS given(key, free_at_ms)
          WHERE p.key = given.key`);
        return starts;
      }),
    );
  }

  async unannounced(limit: number): Promise<readonly StoredCampaign[]> {
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select()
        .from(campaigns)
        .where(sql`state <> 'draft' AND announced_at_ms IS DISTINCT FROM changed_at_ms`)
        .orderBy(asc(campaigns.changedAtMs))
        .limit(limit),
    );
    return rows.map(campaignOf);
  }

  async announced(ref: CampaignRef, changedAtMs: number): Promise<void> {
    await this.ask(ref.tenantId, (session) =>
      session.update(campaigns).set({ announcedAtMs: changedAtMs }).where(isCampaign(ref)),
    );
  }

  async endedBefore({ endedBeforeMs, limit }: { endedBeforeMs: number; limit: number }): Promise<readonly StoredCampaign[]> {
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select()
        .from(campaigns)
        .where(and(lt(campaigns.endedAtMs, endedBeforeMs), sql`erased_at_ms IS NULL`))
        .orderBy(asc(campaigns.endedAtMs))
        .limit(limit),
    );
    return rows.map(campaignOf);
  }

  async erase(ref: CampaignRef, atMs: number): Promise<void> {
    const { tenantId, campaignId } = ref;
    await this.atOnce(tenantId, async (tx) => {
      // A running addition of contacts holds the key: waiting for it means that nothing is sealed under it afterwards.
      await this.keys.obtain(tx, tenantId, campaignId, 'text');
      await this.keys.destroy(tx, tenantId, campaignId, 'text');
      await tx
        .update(campaigns)
        .set({
          state: 'stopped',
          reason: 'erased',
          changedBy: 'person',
          changedAtMs: sql`${campaigns.changedAtMs} + 1`,
          endedAtMs: Math.round(atMs),
        })
        .where(and(isCampaign(ref), sql`${campaigns.state} IN ('draft', 'running', 'paused')`));
    });
    const batch = sql`ordinal IN (SELECT ordinal FROM ${contacts} WHERE ${ofCampaign(ref)} AND personal IS NOT NULL LIMIT ${ERASED_AT_ONCE})`;
    const blank = (): Promise<number> => this.ask(tenantId, (session) => blankContacts(session, and(ofCampaign(ref), batch)));
    for (;;) if ((await blank()) === 0) break;
    // Last, so that the next try completes what a dead process left.
    const erasedAtMs = Math.round(atMs);
    await this.ask(tenantId, (session) => session.update(campaigns).set({ erasedAtMs }).where(isCampaign(ref)));
  }
}

interface NamedCount extends Record<string, unknown> {
  readonly name: string;
  readonly count: number;
}

function countsFrom(
  rows: readonly { readonly state: ContactState; readonly disposition: Disposition | null; readonly count: number }[],
): CampaignCounts {
  const states: Record<ContactState, number> = { pending: 0, leased: 0, waiting: 0, done: 0 };
  const dispositions: Partial<Record<Disposition, number>> = {};
  for (const { state, disposition, count } of rows) {
    states[state] += count;
    if (state === 'done' && disposition !== null) dispositions[disposition] = (dispositions[disposition] ?? 0) + count;
  }
  return { contacts: rows.reduce((sum, { count }) => sum + count, 0), states, dispositions };
}

function campaignOf(row: typeof campaigns.$inferSelect): StoredCampaign {
  const { announcedAtMs: _, ...campaign } = present(row);
  return campaign;
}
