import { and, asc, eq, gt, sql, type SQL } from 'drizzle-orm';
import type {
  CampaignContact,
  CampaignRef,
  ContactChange,
  ContactPriority,
  ContactRepository,
  LeasedContact,
  NewContact,
  OverdueContact,
} from '../campaigns.ts';
import { StoreRecordError } from '../errors.ts';
import { storable } from '../record.ts';
import type { CallKey } from './keys.ts';
import { campaigns, contacts } from './dialling-schema.ts';
import { blankContacts, contactId, contactOf, isCampaign, ofCampaign, ordinalOf, personalName, WAITS } from './contact-rows.ts';
import { checkLimit, equals } from './query.ts';
import { Repository } from './repository.ts';
import { type Session, inStoreErrors } from './tenancy.ts';

/** Indexed by the column's number. */
const PRIORITIES: readonly ContactPriority[] = ['call-back', 'retry', 'new'];
const NEW = PRIORITIES.indexOf('new');
const MOST_PAGE = 1000;

export class PostgresContacts extends Repository implements ContactRepository {
  async add(ref: CampaignRef, given: readonly NewContact[], dueAtMs: number): ReturnType<ContactRepository['add']> {
    if (given.length === 0) return { added: 0, duplicates: [] };
    const index = await this.index(ref.tenantId);
    const hashes = given.map(({ number }) => {
      const hash = index.number(number);
      if (hash === undefined) throw new StoreRecordError('a contact has no number');
      return hash;
    });
    const firstOf = new Map(hashes.map((hash, place) => [hash, place] as const).reverse());
    const isNew = await this.atOnce(ref.tenantId, async (tx) => {
      const key = await this.keys.obtain(tx, ref.tenantId, ref.campaignId, 'text');
      const [campaign] = await tx
        .select({ state: campaigns.state, erasedAtMs: campaigns.erasedAtMs })
        .from(campaigns)
        .where(isCampaign(ref))
        .for('share');
      if (campaign === undefined || campaign.state === 'stopped' || campaign.erasedAtMs !== null) {
        throw new StoreRecordError('contacts are added to a campaign that is there and was not stopped');
      }
      const rows = [...firstOf.values()].sort((one, other) => one - other).flatMap((place) => given[place] ?? []);
      const rowHashes = rows.map(({ number }) => index.number(number) ?? '');
      const sealed = rows.map(({ number, zone, variables }, place) =>
        key.seal(personalName(rowHashes[place] ?? ''), storable({ number, zone, variables })),
      );
      const { rows: inserted } = await tx.execute<{ number_hash: string }>(sql`
        INSERT INTO ${contacts} (tenant_id, campaign_id, state, priority, due_at_ms, attempts, outcomes, message_left, number_hash, personal)
        SELECT ${ref.tenantId}, ${ref.campaignId}, 'pending', ${NEW}, ${Math.round(dueAtMs)}, 0, '{}', false, hash, personal
        FROM unnest(${sql.param(rowHashes)}::text[], ${sql.param(sealed)}::bytea[]) WITH ORDINALITY AS given(hash, personal, place)
        ORDER BY place
        ON CONFLICT DO NOTHING RETURNING number_hash`);
      return new Set(inserted.map((row) => row.number_hash));
    });
    const duplicates = hashes.flatMap((hash, place) => (isNew.has(hash) && firstOf.get(hash) === place ? [] : [place]));
    return { added: isNew.size, duplicates };
  }

  async known(ref: CampaignRef, numbers: readonly string[]): Promise<number> {
    const index = await this.index(ref.tenantId);
    const hashes = numbers.flatMap((number) => index.number(number) ?? []);
    const [found] = await this.ask(ref.tenantId, (session) =>
      session
        .select({ count: sql<number>`count(*)::int` })
        .from(contacts)
        .where(and(ofCampaign(ref), sql`number_hash = ANY(${sql.param(hashes)}::text[])`)),
    );
    return found?.count ?? 0;
  }

  async get(ref: CampaignRef, id: string): Promise<CampaignContact | undefined> {
    const ordinal = ordinalOf(id);
    if (ordinal === undefined) return undefined;
    const [found] = await this.#read(ref, eq(contacts.ordinal, ordinal), 1);
    return found;
  }

  async page(ref: CampaignRef, query: Parameters<ContactRepository['page']>[1]): ReturnType<ContactRepository['page']> {
    const { limit, after, state, disposition, number } = query;
    checkLimit(limit, MOST_PAGE);
    const hash = number === undefined ? undefined : (await this.index(ref.tenantId)).number(number);
    if (number !== undefined && hash === undefined) return { contacts: [], next: undefined };
    const where = and(
      equals(contacts, { numberHash: hash, state, disposition }),
      after === undefined ? undefined : gt(contacts.ordinal, after),
    );
    const rows = await this.#read(ref, where, limit + 1);
    const page = rows.slice(0, limit);
    return { contacts: page, next: rows.length > limit ? page.at(-1)?.ordinal : undefined };
  }

  async sample(ref: CampaignRef, most: number): Promise<readonly Pick<CampaignContact, 'number' | 'zone'>[]> {
    const { rows } = await this.ask(ref.tenantId, (session) =>
      session.execute<{ count: number }>(
        sql`SELECT count(*)::int AS count FROM ${contacts} WHERE ${ofCampaign(ref)} AND state <> 'done' AND personal IS NOT NULL`,
      ),
    );
    const step = Math.max(1, Math.ceil((rows[0]?.count ?? 0) / most));
    return this.#read(ref, sql`state <> 'done' AND personal IS NOT NULL AND ordinal % ${step} = 0`, most);
  }

  async lease(ref: CampaignRef, request: Parameters<ContactRepository['lease']>[1]): Promise<readonly LeasedContact[]> {
    const { owner, nowMs, untilMs, limit, concurrency, carrier, lines } = request;
    const leased = this.tenancy.atOnceForAll(async (tx) => {
      // Held until the end: processes leasing for the same account are serialised.
      await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`carrier account ${carrier.name}`}, 0))`);
      const [campaign] = await tx.select({ state: campaigns.state }).from(campaigns).where(isCampaign(ref)).for('update');
      if (campaign?.state !== 'running') return [];
      const underWay = await underWayOf(tx);
      const count = (fits: (each: (typeof underWay)[number]) => boolean): number =>
        underWay.filter(fits).reduce((sum, each) => sum + each.count, 0);
      const free = lines.map(({ from, concurrency: most }) => ({ from, room: most - count((each) => each.from === from) }));
      const most = Math.min(
        limit,
        concurrency - count((each) => each.tenantId === ref.tenantId && each.campaignId === ref.campaignId),
        carrier.concurrency - count((each) => each.carrier === carrier.name),
        free.reduce((sum, { room }) => sum + Math.max(0, room), 0),
      );
      const ordinals: number[] = [];
      for (const priority of PRIORITIES.keys()) {
        if (ordinals.length >= most) break;
        const { rows } = await tx.execute<{ ordinal: string }>(sql`
          SELECT ordinal FROM ${contacts}
          WHERE ${ofCampaign(ref)} AND ${WAITS} AND priority = ${priority} AND due_at_ms <= ${Math.floor(nowMs)}
          ORDER BY due_at_ms, ordinal LIMIT ${most - ordinals.length} FOR UPDATE SKIP LOCKED`);
        ordinals.push(...rows.map((row) => Number(row.ordinal)));
      }
      if (ordinals.length === 0) return [];
      const callerIds = ordinals.map(() => {
        const line = free.reduce((best, each) => (each.room > best.room ? each : best));
        line.room -= 1;
        return line.from;
      });
      await tx.execute(sql`
        UPDATE ${contacts} AS c SET state = 'leased', due_at_ms = ${Math.round(untilMs)}, lease_owner = ${owner},
          carrier = ${carrier.name}, caller_id = given.caller_id
        FROM unnest(${sql.param(ordinals)}::bigint[], ${sql.param(callerIds)}::text[]) AS given(ordinal, caller_id)
        WHERE c.tenant_id = ${ref.tenantId} AND c.campaign_id = ${ref.campaignId} AND c.ordinal = given.ordinal`);
      const key = await this.keys.find(tx, ref.tenantId, ref.campaignId, 'text');
      const rows = await tx
        .select()
        .from(contacts)
        .where(and(ofCampaign(ref), sql`ordinal = ANY(${sql.param(ordinals)}::bigint[])`));
      const place = new Map(ordinals.map((ordinal, at) => [ordinal, at]));
      rows.sort((one, other) => (place.get(one.ordinal) ?? 0) - (place.get(other.ordinal) ?? 0));
      return rows.map((row) => ({ ...contactOf(row, key), from: row.callerId ?? '' }));
    });
    return inStoreErrors(leased);
  }

  async release(
    ref: CampaignRef,
    owner: string,
    released: readonly { readonly id: string; readonly dueAtMs: number; readonly cause?: string | undefined }[],
  ): Promise<void> {
    if (released.length === 0) return;
    const due = released.map(({ dueAtMs }) => Math.round(dueAtMs));
    const causes = released.map(({ cause }) => cause ?? null);
    await this.ask(ref.tenantId, (session) =>
      session.execute(sql`
        UPDATE ${contacts} AS c SET ${AS_BEFORE}, due_at_ms = given.due_at_ms, cause = COALESCE(given.cause, c.cause)
        FROM unnest(${sql.param(ordinalsOf(released))}::bigint[], ${sql.param(due)}::bigint[], ${sql.param(causes)}::text[])
          AS given(ordinal, due_at_ms, cause)
        WHERE ${ofOwner(ref, owner)} AND c.ordinal = given.ordinal`),
    );
  }

  async attach(
    ref: CampaignRef,
    owner: string,
    made: readonly { readonly contactId: string; readonly attemptId: string }[],
    checkAtMs: number,
  ): Promise<readonly string[]> {
    if (made.length === 0) return [];
    const ordinals = ordinalsOf(made.map((each) => ({ id: each.contactId })));
    const { rows } = await this.ask(ref.tenantId, (session) =>
      session.execute<{ ordinal: string }>(sql`
        UPDATE ${contacts} AS c SET lease_owner = NULL, attempts = attempts + 1, last_attempt_id = given.attempt_id,
          due_at_ms = ${Math.round(checkAtMs)}
        FROM unnest(${sql.param(ordinals)}::bigint[], ${sql.param(made.map((each) => each.attemptId))}::text[]) AS given(ordinal, attempt_id)
        WHERE ${ofOwner(ref, owner)} AND c.ordinal = given.ordinal RETURNING c.ordinal`),
    );
    return rows.map((row) => contactId(Number(row.ordinal)));
  }

  async refuse(
    ref: CampaignRef,
    owner: string,
    refused: readonly { readonly id: string; readonly cause: string }[],
  ): Promise<void> {
    if (refused.length === 0) return;
    await this.ask(ref.tenantId, (session) =>
      session.execute(sql`
        UPDATE ${contacts} AS c SET ${FREED}, state = 'done', disposition = 'refused', cause = given.cause
        FROM unnest(${sql.param(ordinalsOf(refused))}::bigint[], ${sql.param(refused.map(({ cause }) => cause))}::text[])
          AS given(ordinal, cause)
        WHERE ${ofOwner(ref, owner)} AND c.ordinal = given.ordinal`),
    );
  }

  async settle(
    ref: CampaignRef,
    id: string,
    attempt: { readonly id: string; readonly index: number },
    change: ContactChange,
  ): Promise<boolean> {
    const isUnderWay = sql`(
      (${contacts.state} = 'leased' AND ${contacts.leaseOwner} IS NULL AND ${contacts.lastAttemptId} = ${attempt.id})
      OR (${contacts.state} = 'leased' AND ${contacts.leaseOwner} IS NOT NULL AND ${contacts.attempts} = ${attempt.index - 1})
      OR (${contacts.state} = 'done' AND ${contacts.disposition} = 'unknown' AND ${contacts.lastAttemptId} = ${attempt.id}))`;
    const { outcomes, cause = null, callBackAtMs, messageLeft } = change;
    const moved =
      change.state === 'done'
        ? { state: 'done' as const, disposition: change.disposition }
        : {
            state: 'waiting' as const,
            dueAtMs: Math.round(change.dueAtMs),
            priority: PRIORITIES.indexOf(change.priority),
            ...(change.disposition === undefined ? {} : { disposition: change.disposition }),
          };
    const settled = await this.ask(ref.tenantId, (session) =>
      session
        .update(contacts)
        .set({
          ...moved,
          cause,
          ...(outcomes === undefined ? {} : { outcomes }),
          ...(callBackAtMs === undefined ? {} : { callBackAtMs: Math.round(callBackAtMs) }),
          ...(messageLeft === undefined ? {} : { messageLeft }),
          attempts: attempt.index,
          lastAttemptId: attempt.id,
          leaseOwner: null,
          carrier: null,
          callerId: null,
          // An erased contact is not called again.
          ...(change.state === 'waiting'
            ? { state: sql`CASE WHEN ${contacts.personal} IS NULL THEN 'done' ELSE 'waiting' END` }
            : {}),
        })
        .where(and(ofCampaign(ref), eq(contacts.ordinal, ordinalOf(id) ?? -1), isUnderWay))
        .returning({ ordinal: contacts.ordinal }),
    );
    return settled.length > 0;
  }

  async overdue(query: Parameters<ContactRepository['overdue']>[0]): Promise<readonly OverdueContact[]> {
    const { nowMs, untilMs, limit } = query;
    return inStoreErrors(
      this.tenancy.atOnceForAll(async (tx) => {
        const { rows } = await tx.execute<{ tenant_id: string; campaign_id: string; ordinal: string }>(sql`
          WITH picked AS MATERIALIZED (
            SELECT tenant_id, campaign_id, ordinal FROM ${contacts}
            WHERE state = 'leased' AND due_at_ms <= ${Math.floor(nowMs)} ORDER BY due_at_ms LIMIT ${limit} FOR UPDATE SKIP LOCKED)
          UPDATE ${contacts} AS c SET due_at_ms = ${Math.round(untilMs)} FROM picked
          WHERE c.tenant_id = picked.tenant_id AND c.campaign_id = picked.campaign_id AND c.ordinal = picked.ordinal
          RETURNING c.tenant_id, c.campaign_id, c.ordinal`);
        const keys = new Map<string, CallKey | undefined>();
        const found: OverdueContact[] = [];
        for (const { tenant_id: tenantId, campaign_id: campaignId, ordinal } of rows) {
          const name = JSON.stringify([tenantId, campaignId]);
          if (!keys.has(name)) keys.set(name, await this.keys.find(tx, tenantId, campaignId, 'text'));
          const isThis = and(ofCampaign({ tenantId, campaignId }), eq(contacts.ordinal, Number(ordinal)));
          const [row] = await tx.select().from(contacts).where(isThis);
          if (row !== undefined) found.push({ ...contactOf(row, keys.get(name)), attached: row.leaseOwner === null });
        }
        return found;
      }),
    );
  }

  async reclaim(ref: CampaignRef, id: string, untilMs: number, dueAtMs: number): Promise<boolean> {
    const { rows } = await this.ask(ref.tenantId, (session) =>
      session.execute(sql`
        UPDATE ${contacts} AS c SET ${AS_BEFORE}, due_at_ms = ${Math.round(dueAtMs)},
          attempts = CASE WHEN c.lease_owner IS NULL THEN c.attempts - 1 ELSE c.attempts END
        WHERE c.tenant_id = ${ref.tenantId} AND c.campaign_id = ${ref.campaignId} AND c.ordinal = ${ordinalOf(id) ?? -1} AND c.state = 'leased' AND c.due_at_ms = ${Math.round(untilMs)}
        RETURNING c.ordinal`),
    );
    return rows.length > 0;
  }

  underWay(): ReturnType<ContactRepository['underWay']> {
    return inStoreErrors(underWayOf(this.tenancy.owner));
  }

  async open(ref: CampaignRef): ReturnType<ContactRepository['open']> {
    const { rows } = await this.ask(ref.tenantId, (session) =>
      session.execute<{ due_at_ms: string | null; leased: boolean }>(sql`
        SELECT least(${sql.join(
          [...PRIORITIES.keys()].map(
            (priority) =>
              sql`(SELECT due_at_ms FROM ${contacts} WHERE ${ofCampaign(ref)} AND ${WAITS} AND priority = ${priority} ORDER BY due_at_ms, ordinal LIMIT 1)`,
          ),
          sql`, `,
        )}) AS due_at_ms,
        EXISTS (SELECT FROM ${contacts} WHERE ${ofCampaign(ref)} AND state = 'leased') AS leased`),
    );
    const [row] = rows;
    const nextDueAtMs = row?.due_at_ms == null ? undefined : Number(row.due_at_ms);
    return { left: nextDueAtMs !== undefined || row?.leased === true, nextDueAtMs };
  }

  async cancelOpen(ref: CampaignRef, cause: string, limit: number): Promise<number> {
    const { rows } = await this.ask(ref.tenantId, (session) =>
      session.execute(sql`
        WITH picked AS MATERIALIZED (
          SELECT ordinal FROM ${contacts} WHERE ${ofCampaign(ref)} AND ${WAITS} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        UPDATE ${contacts} AS c SET state = 'done', disposition = 'cancelled', cause = ${cause} FROM picked
        WHERE c.tenant_id = ${ref.tenantId} AND c.campaign_id = ${ref.campaignId} AND c.ordinal = picked.ordinal
        RETURNING c.ordinal`),
    );
    return rows.length;
  }

  async erase(ref: CampaignRef, id: string): Promise<boolean> {
    const which = and(ofCampaign(ref), eq(contacts.ordinal, ordinalOf(id) ?? -1));
    return (await this.ask(ref.tenantId, (session) => blankContacts(session, which))) > 0;
  }

  #read(ref: CampaignRef, which: SQL | undefined, limit: number): Promise<CampaignContact[]> {
    return this.ask(ref.tenantId, async (session) => {
      const rows = await session
        .select()
        .from(contacts)
        .where(and(ofCampaign(ref), which))
        .orderBy(asc(contacts.ordinal))
        .limit(limit);
      const key = await this.keys.find(session, ref.tenantId, ref.campaignId, 'text');
      return rows.map((row) => contactOf(row, key));
    });
  }
}

const FREED = sql`lease_owner = NULL, carrier = NULL, caller_id = NULL`;
/** A released contact is as before its lease; an erased one is not called again. */
const AS_BEFORE = sql`${FREED},
  state = CASE WHEN c.personal IS NULL THEN 'done' WHEN c.disposition IS NULL THEN 'pending' ELSE 'waiting' END,
  disposition = CASE WHEN c.personal IS NULL THEN COALESCE(c.disposition, 'cancelled') ELSE c.disposition END`;

function ofOwner({ tenantId, campaignId }: CampaignRef, owner: string): SQL {
  return sql`c.tenant_id = ${tenantId} AND c.campaign_id = ${campaignId} AND c.state = 'leased' AND c.lease_owner = ${owner}`;
}

function ordinalsOf(named: readonly { readonly id: string }[]): number[] {
  return named.map(({ id }) => ordinalOf(id) ?? -1);
}

async function underWayOf(session: Session) {
  const { rows } = await session.execute<{
    tenant_id: string;
    campaign_id: string;
    carrier: string;
    from: string;
    count: number;
  }>(sql`
    SELECT tenant_id, campaign_id, COALESCE(carrier, '') AS carrier, COALESCE(caller_id, '') AS from, count(*)::int AS count
    FROM ${contacts} WHERE state = 'leased' GROUP BY 1, 2, 3, 4`);
  return rows.map(({ tenant_id: tenantId, campaign_id: campaignId, carrier, from, count }) => ({
    tenantId,
    campaignId,
    carrier,
    from,
    count,
  }));
}
