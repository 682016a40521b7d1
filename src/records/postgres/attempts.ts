import { randomBytes } from 'node:crypto';
import { type SQL, and, asc, desc, eq, gt, gte, inArray, lt, or, sql } from 'drizzle-orm';
import type {
  Attempt,
  AttemptLease,
  AttemptNews,
  AttemptRepository,
  AttemptState,
  AttemptTally,
  DaySpending,
  Decided,
  DecisionEntry,
  KnownOfNumber,
  PlacedCalls,
} from '../dialling.ts';
import { StoreRecordError, StoreUnavailableError } from '../errors.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import { storable } from '../record.ts';
import { attemptOf, inWholeMs, leased, sealAttempt } from './attempt-rows.ts';
import { wrappedTextKey } from './keys.ts';
import { consentsOf, hashOf, listsOf, suppressionsOf } from './dial-lists.ts';
import { checkLimit, equals, insertRows, pageOf, pastCursor, present } from './query.ts';
import { attempts, dialDecisions, dialHeads, dialSubjects } from './dialling-schema.ts';
import { spend, spendingOf } from './dial-days.ts';
import { Repository } from './repository.ts';
import { type Session, inStoreErrors } from './tenancy.ts';

/** Entries of the log read at a time. */
const LOG_PAGE = 1000;

/** Long enough to be unique. */
const SUBJECT_BYTES = 16;

/** Time since the end of the gate's approval after which no process will place the call. */
const OVERDUE_MS = 5_000;
/** A literal, so that the planner can use the partial index of unfinished attempts. */
const NOT_OVER = sql`${attempts.state} <> 'ended'`;

/** A quarter of an hour in milliseconds. */
const QUARTER = sql.raw('900000');

type Head = Pick<DecisionEntry, 'sequence' | 'hash'>;
type Asked = Parameters<AttemptRepository['decide']>[1];

export class PostgresAttempts extends Repository implements AttemptRepository {
  async decide<Result>(
    tenantId: string,
    about: Asked,
    decide: (
      known: ReadonlyMap<string, KnownOfNumber>,
      lists: Readonly<Record<string, number>>,
      head: Head | undefined,
      spending: DaySpending,
    ) => Decided<Result>,
  ): Promise<Result> {
    const index = await this.index(tenantId);
    const hashes = new Map(about.numbers.map((number) => [number, hashOf(index, number)]));
    const asker = { failed: false };
    const written = this.tenancy.atOnce(tenantId, async (tx) => {
      const head = await lockHead(tx, tenantId);
      const known = await this.#known(tx, tenantId, about, hashes);
      const lists = await listsOf(tx, tenantId);
      const spending = await spendingOf(tx, tenantId, about.day);
      asker.failed = true;
      const decided = decide(known, lists, head, spending);
      checkEntries(tenantId, head, decided.entries);
      asker.failed = false;
      await this.#write(tx, tenantId, index, about.lease, decided);
      await spend(tx, tenantId, about.day, decided.spent);
      return decided.result;
    });
    try {
      return await inStoreErrors(written);
    } catch (error) {
      // An error of the caller's callback is not the store's.
      throw asker.failed && error instanceof StoreUnavailableError ? error.cause : error;
    }
  }

  async #known(
    tx: Session,
    tenantId: string,
    { campaignId, sinceMs }: Asked,
    hashes: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, KnownOfNumber>> {
    const all = [...hashes.values()];
    if (all.length === 0) return new Map();
    const suppressed = await suppressionsOf(tx, tenantId, all);
    const consented = await consentsOf(tx, this.keys, tenantId, all);
    const subjects = await subjectsOf(tx, tenantId, all);
    const { rows } = await tx.execute<{
      number_hash: string;
      is_being_called: boolean;
      in_campaign: number;
      at_ms: number[] | null;
    }>(sql`
      SELECT number_hash, bool_or(state <> 'ended') AS is_being_called,
        (count(*) FILTER (WHERE campaign_id = ${campaignId ?? null}::text))::int AS in_campaign,
        json_agg(COALESCE(placed_at_ms, created_at_ms)) FILTER (WHERE COALESCE(placed_at_ms, created_at_ms) >= ${Math.floor(sinceMs)}) AS at_ms
      FROM ${attempts}
      WHERE tenant_id = ${tenantId} AND number_hash = ANY(${sql.param(all)}::text[])
        AND (state <> 'ended' OR placed_at_ms IS NOT NULL OR disposition = 'unknown')
      GROUP BY number_hash`);
    const called = new Map(rows.map((row) => [row.number_hash, row]));
    return new Map(
      Array.from(hashes, ([number, hash]) => [
        number,
        {
          suppressions: suppressed.get(hash) ?? [],
          consents: consented.get(hash) ?? [],
          attemptsMs: called.get(hash)?.at_ms ?? [],
          attemptsInCampaign: called.get(hash)?.in_campaign ?? 0,
          isBeingCalled: called.get(hash)?.is_being_called ?? false,
          subject: subjects.get(hash) ?? '',
        },
      ]),
    );
  }

  async #write(
    tx: Session,
    tenantId: string,
    index: BlindIndex,
    lease: AttemptLease,
    { entries, attempts: made }: Decided<unknown>,
  ): Promise<void> {
    await insertRows(
      tx,
      dialDecisions,
      entries.map((entry) => ({ ...entry, body: JSON.stringify(entry.body) })),
    );
    const keys = await this.keys.make(
      tx,
      tenantId,
      made.map(({ id }) => id),
      'text',
    );
    const rows = made.map((attempt) => {
      const key = keys.get(attempt.id);
      if (key === undefined)
        throw new StoreRecordError('there is a call with the id of this attempt', { facts: { callId: attempt.id } });
      return { ...sealAttempt(attempt, key), tenantId, numberHash: hashOf(index, attempt.to), ...leased(attempt, lease) };
    });
    // Another process made the contact's attempt of this index and has its lease: ours is dropped.
    await insertRows(tx, attempts, rows, sql`ON CONFLICT DO NOTHING`);
    const last = entries.at(-1);
    if (last === undefined) return;
    await tx.update(dialHeads).set({ sequence: last.sequence, hash: last.hash }).where(eq(dialHeads.tenantId, tenantId));
  }

  async get(tenantId: string, id: string): Promise<Attempt | undefined> {
    const [found] = await this.#read(tenantId, and(eq(attempts.tenantId, tenantId), eq(attempts.id, id)), 1);
    return found;
  }

  async byCarrierId(tenantId: string, carrier: string, carrierCallId: string): Promise<Attempt | undefined> {
    const isThis = and(eq(attempts.carrier, carrier), eq(attempts.carrierCallId, carrierCallId));
    const [found] = await this.#read(tenantId, and(eq(attempts.tenantId, tenantId), isThis), 1);
    return found;
  }

  async advance(
    tenantId: string,
    id: string,
    from: readonly AttemptState[],
    to: AttemptState,
    news: AttemptNews,
    lease?: AttemptLease,
  ): Promise<boolean> {
    const moved = await this.ask(tenantId, (session) =>
      session
        .update(attempts)
        .set({
          ...inWholeMs(news),
          ...(news.cause === undefined ? {} : { cause: String(storable(news.cause)) }),
          ...leased({ state: to }, lease),
          state: to,
        })
        .where(and(eq(attempts.tenantId, tenantId), eq(attempts.id, id), inArray(attempts.state, [...from])))
        .returning({ id: attempts.id }),
    );
    return moved.length > 0;
  }

  async renew(owner: string, untilMs: number): Promise<void> {
    await inStoreErrors(
      this.tenancy.owner
        .update(attempts)
        .set({ leaseUntilMs: Math.round(untilMs) })
        .where(and(NOT_OVER, eq(attempts.leaseOwner, owner))),
    );
  }

  async abandoned({ nowMs, limit }: { nowMs: number; limit: number }): Promise<readonly Attempt[]> {
    const isFree = sql`(${attempts.leaseUntilMs} IS NULL OR ${attempts.leaseUntilMs} <= ${Math.round(nowMs)})`;
    // If its decision was stored but the answer was lost, the owner does not know of the attempt.
    const isOverdue = and(eq(attempts.state, 'queued'), lt(attempts.placeByMs, Math.round(nowMs) - OVERDUE_MS));
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select({ row: attempts, wrapped: wrappedTextKey('attempts') })
        .from(attempts)
        .where(and(NOT_OVER, or(isFree, isOverdue)))
        .orderBy(asc(attempts.createdAtMs), asc(attempts.id))
        .limit(limit),
    );
    return rows.map(({ row, wrapped }) => attemptOf(this.keys, row, wrapped));
  }

  async page(tenantId: string, query: Parameters<AttemptRepository['page']>[1]): ReturnType<AttemptRepository['page']> {
    const { limit, campaignId, contactId, disposition, cause, number, fromMs, toMs } = query;
    checkLimit(limit);
    const past = pastCursor(query.before, [attempts.createdAtMs, attempts.id]);
    const hash = number === undefined ? undefined : (await this.index(tenantId)).number(number);
    if (number !== undefined && hash === undefined) return { attempts: [], next: undefined };
    const where = and(
      eq(attempts.tenantId, tenantId),
      equals(attempts, { campaignId, contactId, disposition, cause, numberHash: hash }),
      fromMs === undefined ? undefined : gte(attempts.createdAtMs, fromMs),
      toMs === undefined ? undefined : lt(attempts.createdAtMs, toMs),
      past,
    );
    const { page, next } = pageOf(await this.#read(tenantId, where, limit + 1), limit, (row) => [row.createdAtMs, row.id]);
    return { attempts: page, next };
  }

  async tally(tenantId: string, { campaignId }: { campaignId: string }): Promise<readonly AttemptTally[]> {
    const quarterMs = sql<number>`(COALESCE(${attempts.placedAtMs}, ${attempts.createdAtMs}) / ${QUARTER} * ${QUARTER})`;
    const refusal = sql<string | null>`(CASE WHEN ${attempts.disposition} = 'refused' THEN ${attempts.cause} END)`;
    const { botName, from, disposition, answeredAtMs, endedAtMs } = attempts;
    const rows = await this.ask(tenantId, (session) =>
      session
        .select({
          quarterMs: quarterMs.mapWith(Number),
          botName,
          from,
          disposition,
          refusal,
          attempts: sql<number>`count(*)::int`,
          answered: sql<number>`count(${answeredAtMs})::int`,
          talkSeconds: sql`COALESCE(sum((${endedAtMs} - ${answeredAtMs}) / 1000), 0)`.mapWith(Number),
        })
        .from(attempts)
        .where(and(eq(attempts.tenantId, tenantId), eq(attempts.campaignId, campaignId)))
        .groupBy(sql`1, 2, 3, 4, 5`)
        .orderBy(sql`1, 2, 3, 4, 5`),
    );
    return rows.map(present);
  }

  async placed(
    tenantId: string,
    { campaignIds, fromMs, toMs, everyMs }: Parameters<AttemptRepository['placed']>[1],
  ): Promise<readonly PlacedCalls[]> {
    if (campaignIds.length === 0) return [];
    const { rows } = await this.ask(tenantId, (session) =>
      session.execute<{ campaign_id: string; at_ms: string; placed: number; answered: number }>(sql`
          SELECT campaign_id, ${fromMs}::bigint + (placed_at_ms - ${fromMs}::bigint) / ${everyMs}::bigint * ${everyMs}::bigint AS at_ms,
            count(*)::int AS placed, count(answered_at_ms)::int AS answered
          FROM ${attempts}
          WHERE tenant_id = ${tenantId} AND campaign_id = ANY(${sql.param([...campaignIds])}::text[])
            AND placed_at_ms >= ${fromMs} AND placed_at_ms < ${toMs}
          GROUP BY 1, 2 ORDER BY 1, 2`),
    );
    return rows.map(({ campaign_id: campaignId, at_ms: atMs, ...counts }) => ({ campaignId, atMs: Number(atMs), ...counts }));
  }

  async live(): ReturnType<AttemptRepository['live']> {
    const { tenantId, campaignId, from, carrier } = attempts;
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select({ tenantId, campaignId, from, carrier, count: sql<number>`count(*)::int` })
        .from(attempts)
        .where(NOT_OVER)
        .groupBy(tenantId, campaignId, from, carrier),
    );
    return rows.map(present);
  }

  async decisionHead(tenantId: string): Promise<Head | undefined> {
    const { sequence, hash } = dialHeads;
    const [head] = await this.ask(tenantId, (session) =>
      session.select({ sequence, hash }).from(dialHeads).where(eq(dialHeads.tenantId, tenantId)),
    );
    return head === undefined || head.sequence === 0 ? undefined : head;
  }

  decisionHeads(): ReturnType<AttemptRepository['decisionHeads']> {
    return inStoreErrors(
      this.tenancy.owner.select().from(dialHeads).where(gt(dialHeads.sequence, 0)).orderBy(dialHeads.tenantId),
    );
  }

  async decision(tenantId: string, sequence: number): Promise<DecisionEntry | undefined> {
    const [entry] = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(dialDecisions)
        .where(and(eq(dialDecisions.tenantId, tenantId), eq(dialDecisions.sequence, sequence))),
    );
    return entry === undefined ? undefined : { ...entry, body: JSON.parse(entry.body) };
  }

  async *decisions(tenantId: string): AsyncGenerator<DecisionEntry> {
    let last: number | undefined;
    for (;;) {
      const after = last === undefined ? undefined : gt(dialDecisions.sequence, last);
      const entries = await this.ask(tenantId, (session) =>
        session
          .select()
          .from(dialDecisions)
          .where(and(eq(dialDecisions.tenantId, tenantId), after))
          .orderBy(asc(dialDecisions.sequence))
          .limit(LOG_PAGE),
      );
      for (const entry of entries) yield { ...entry, body: JSON.parse(entry.body) };
      last = entries.at(-1)?.sequence;
      if (entries.length < LOG_PAGE) return;
    }
  }

  async #read(tenantId: string, where: SQL | undefined, limit: number): Promise<Attempt[]> {
    const rows = await this.ask(tenantId, (session) =>
      session
        .select({ row: attempts, wrapped: wrappedTextKey('attempts') })
        .from(attempts)
        .where(where)
        .orderBy(desc(attempts.createdAtMs), desc(attempts.id))
        .limit(limit),
    );
    return rows.map(({ row, wrapped }) => attemptOf(this.keys, row, wrapped));
  }
}

/** Locks the end of the log until the transaction ends, which serialises a tenant's decisions. */
async function lockHead(tx: Session, tenantId: string): Promise<Head | undefined> {
  const lock = () => tx.select().from(dialHeads).where(eq(dialHeads.tenantId, tenantId)).for('update');
  let [head] = await lock();
  if (head === undefined) {
    await tx.insert(dialHeads).values({ tenantId, sequence: 0, hash: '' }).onConflictDoNothing();
    [head] = await lock();
  }
  return head === undefined || head.sequence === 0 ? undefined : { sequence: head.sequence, hash: head.hash };
}

/** @throws TypeError for entries that do not continue the log */
function checkEntries(tenantId: string, head: Head | undefined, entries: readonly DecisionEntry[]): void {
  let before = head;
  for (const entry of entries) {
    const follows =
      entry.sequence === (before?.sequence ?? 0) + 1 && (before === undefined || entry.previousHash === before.hash);
    if (!follows || entry.tenantId !== tenantId)
      throw new TypeError(`entry ${entry.sequence} does not follow the end of the log, ${before?.sequence ?? 0}`);
    before = entry;
  }
}

/** The log's references to these numbers; missing ones are made. */
async function subjectsOf(tx: Session, tenantId: string, numberHashes: readonly string[]): Promise<Map<string, string>> {
  const { numberHash, subject } = dialSubjects;
  const known = await tx
    .select({ numberHash, subject })
    .from(dialSubjects)
    .where(and(eq(dialSubjects.tenantId, tenantId), inArray(numberHash, [...numberHashes])));
  const found = new Map(known.map((row) => [row.numberHash, row.subject]));
  const made = [...new Set(numberHashes)]
    .filter((hash) => !found.has(hash))
    .map((hash) => ({ tenantId, numberHash: hash, subject: randomBytes(SUBJECT_BYTES).toString('base64url') }));
  await insertRows(tx, dialSubjects, made);
  for (const row of made) found.set(row.numberHash, row.subject);
  return found;
}
