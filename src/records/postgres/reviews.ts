import { and, arrayContains, asc, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { attentionOf, finding, type Finding, REASONS } from '../attention.ts';
import type { CallRecord } from '../record.ts';
import type { Comment, Review, ReviewChange, ReviewPage, ReviewQuery, ReviewRepository } from '../reviews.ts';
import { openCall } from './call-rows.ts';
import { wasErased, wrappedTextKey } from './keys.ts';
import { checkLimit, equals, insertRows, pageOf, pastCursor, present } from './query.ts';
import { Repository } from './repository.ts';
import { calls } from './schema.ts';
import { comments, reviews } from './statistics-schema.ts';
import type { Session } from './tenancy.ts';

const MOST_COMMENTS = 200;
const findings = z.array(finding);

export class PostgresReviews extends Repository implements ReviewRepository {
  async page(tenantId: string, query: Parameters<ReviewRepository['page']>[1]): Promise<ReviewPage> {
    const { limit, before } = query;
    checkLimit(limit);
    const rows = await this.ask(tenantId, (session) =>
      session
        .select(LISTED)
        .from(reviews)
        .innerJoin(calls, and(eq(calls.tenantId, reviews.tenantId), eq(calls.id, reviews.callId)))
        .where(and(chosen(tenantId, query), pastCursor(before, [reviews.startedAtMs, reviews.callId])))
        .orderBy(desc(reviews.startedAtMs), desc(reviews.callId))
        .limit(limit + 1),
    );
    const { page, next } = pageOf(rows, limit, ({ review }) => [review.startedAtMs, review.callId]);
    const listed = page.map(({ review, comments: noted, wrapped, personal, ...call }) => {
      const key = wrapped === null ? undefined : this.keys.open(tenantId, review.callId, 'text', wrapped);
      const { from, to } = openCall(personal, key);
      return { ...reviewIn(review, noted), ...present(call), from, to };
    });
    return { reviews: listed, next };
  }

  async count(tenantId: string, query: ReviewQuery, atMost: number): Promise<number> {
    return this.ask(tenantId, async (session) => {
      const some = session.select({ id: reviews.callId }).from(reviews).where(chosen(tenantId, query)).limit(atMost).as('some');
      const [row] = await session.select({ count: sql<number>`count(*)::int` }).from(some);
      return row?.count ?? 0;
    });
  }

  async get(tenantId: string, callId: string): Promise<Review | undefined> {
    const [row] = await this.ask(tenantId, (session) =>
      session
        .select({ review: reviews, comments: COMMENTS })
        .from(reviews)
        .where(and(eq(reviews.tenantId, tenantId), eq(reviews.callId, callId))),
    );
    return row && reviewIn(row.review, row.comments);
  }

  async comments(tenantId: string, callId: string): Promise<readonly Comment[]> {
    return this.atOnce(tenantId, async (tx) => {
      const key = await this.keys.find(tx, tenantId, callId, 'text');
      if (key === undefined) return [];
      const rows = await tx
        .select()
        .from(comments)
        .where(and(eq(comments.tenantId, tenantId), eq(comments.callId, callId)))
        .orderBy(asc(comments.atMs), asc(comments.id));
      return rows.map(({ id, by, atMs, personal }) => ({ id, by, atMs, text: String(key.open(`comment/${id}`, personal)) }));
    });
  }

  async change(tenantId: string, callId: string, change: ReviewChange, by: string, atMs: number): Promise<boolean> {
    const { state, labels, assignee } = change;
    return this.#noting(tenantId, callId, async (tx) => {
      await tx
        .update(reviews)
        .set({
          ...(state === undefined ? {} : { state }),
          ...(labels === undefined ? {} : { labels: [...labels] }),
          ...(assignee === undefined ? {} : { assignee }),
          changedBy: by,
          changedAtMs: Math.round(atMs),
        })
        .where(and(eq(reviews.tenantId, tenantId), eq(reviews.callId, callId)));
      return true;
    });
  }

  async comment(tenantId: string, callId: string, { id, by, atMs, text }: Comment): Promise<boolean> {
    return this.#noting(tenantId, callId, async (tx, seal) => {
      const [row] = await tx
        .select({ count: sql<number>`count(*)::int` })
        .from(comments)
        .where(and(eq(comments.tenantId, tenantId), eq(comments.callId, callId)));
      if ((row?.count ?? 0) >= MOST_COMMENTS) return false;
      const personal = seal(`comment/${id}`, text);
      await tx.insert(comments).values({ tenantId, callId, id, by, atMs: Math.round(atMs), personal });
      return true;
    });
  }

  async removeComment(tenantId: string, callId: string, id: string, by: string | undefined): Promise<boolean> {
    const removed = await this.ask(tenantId, (session) =>
      session
        .delete(comments)
        .where(and(eq(comments.tenantId, tenantId), eq(comments.callId, callId), equals(comments, { id, by })))
        .returning({ id: comments.id }),
    );
    return removed.length > 0;
  }

  /** Notes something about a call, which is listed from then on. @param note gets what seals under the key of the call's words */
  async #noting(
    tenantId: string,
    callId: string,
    note: (tx: Session, seal: (what: string, value: unknown) => Buffer) => Promise<boolean>,
  ): Promise<boolean> {
    return this.atOnce(tenantId, async (tx) => {
      const [call] = await tx
        .select({ startedAtMs: calls.startedAtMs, botName: calls.botName })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
      if (call === undefined) return false;
      // An erasure waits for the key, or was there before.
      const key = await this.keys.obtain(tx, tenantId, callId, 'text');
      if (await wasErased(tx, tenantId, callId, 'text')) {
        await this.keys.destroy(tx, tenantId, callId, 'text');
        return false;
      }
      const nothing = { found: [], judged: [], reasons: [], labels: [], state: 'open' } as const;
      await tx
        .insert(reviews)
        .values({ tenantId, callId, ...call, ...nothing, reasons: [], labels: [] })
        .onConflictDoNothing();
      return note(tx, (what, value) => key.seal(what, value));
    });
  }
}

const COMMENTS = sql<number>`(SELECT count(*)::int FROM ${comments} c WHERE c.tenant_id = ${reviews.tenantId} AND c.call_id = ${reviews.callId})`;
const LISTED = {
  review: reviews,
  comments: COMMENTS,
  direction: calls.direction,
  durationMs: calls.durationMs,
  endReason: calls.endReason,
  personal: calls.personal,
  wrapped: wrappedTextKey('calls'),
};

function chosen(tenantId: string, { state, reason, botName, assignee, label, fromMs, toMs }: ReviewQuery): SQL | undefined {
  return and(
    eq(reviews.tenantId, tenantId),
    equals(reviews, { state, botName, assignee }),
    reason === undefined ? undefined : arrayContains(reviews.reasons, [reason]),
    label === undefined ? undefined : arrayContains(reviews.labels, [label]),
    fromMs === undefined ? undefined : gte(reviews.startedAtMs, fromMs),
    toMs === undefined ? undefined : lt(reviews.startedAtMs, toMs),
  );
}

function reviewIn({ found, judged, ...row }: typeof reviews.$inferSelect, noted: number): Review {
  const { tenantId: _tenantId, reasons: _reasons, ...facts } = present(row);
  const both = [...findings.parse(found), ...findings.parse(judged)];
  const inOrder = both.toSorted((one, other) => REASONS.indexOf(one.reason) - REASONS.indexOf(other.reason));
  return { ...facts, findings: inOrder, comments: noted };
}

/** Nobody has noted anything, and nothing is found any more. */
const FORGOTTEN = sql`cardinality(reasons) = 0 AND changed_at_ms IS NULL AND NOT EXISTS
  (SELECT FROM ${comments} c WHERE c.tenant_id = ${reviews.tenantId} AND c.call_id = ${reviews.callId})`;

/** Lists ended calls that deserve a look. A newer record replaces what was found in an older one; what people noted stays. */
export async function keepFound(session: Session, tenantId: string, records: readonly CallRecord[]): Promise<void> {
  const all = records.map((record) => ({ record, found: attentionOf(record) }));
  const rows = all
    .filter(({ found }) => found.length > 0)
    .map(({ record: { id: callId, startedAtMs, botName }, found }) => {
      const reasons = found.map(({ reason }) => reason);
      return { tenantId, callId, startedAtMs, botName, found, judged: [], reasons, state: 'open' as const, labels: [] };
    });
  await insertRows(
    session,
    reviews,
    rows,
    sql`ON CONFLICT (tenant_id, call_id) DO UPDATE SET found = excluded.found, started_at_ms = excluded.started_at_ms,
      bot_name = excluded.bot_name, reasons = excluded.reasons || ARRAY(SELECT j->>'reason' FROM jsonb_array_elements(reviews.judged) AS j)`,
  );
  for (const { record, found } of all) {
    // A first record has nothing to forget.
    if (found.length === 0 && record.revision > 0) await setFound(session, tenantId, record.id, 'found', []);
  }
}

/** Lists a call that its analysis judged wrong; `[]` where it judges it right. */
export async function keepJudged(session: Session, tenantId: string, callId: string, judged: readonly Finding[]): Promise<void> {
  if (judged.length > 0) {
    await session.execute(sql`
      INSERT INTO ${reviews} (tenant_id, call_id, started_at_ms, bot_name, found, judged, reasons, state, labels)
      SELECT ${calls.tenantId}, ${calls.id}, ${calls.startedAtMs}, ${calls.botName}, '[]', '[]', '{}', 'open', '{}' FROM ${calls}
      WHERE ${calls.tenantId} = ${tenantId} AND ${calls.id} = ${callId} ON CONFLICT DO NOTHING`);
  }
  await setFound(session, tenantId, callId, 'judged', judged);
}

async function setFound(
  session: Session,
  tenantId: string,
  callId: string,
  part: 'found' | 'judged',
  what: readonly Finding[],
): Promise<void> {
  const isThis = and(eq(reviews.tenantId, tenantId), eq(reviews.callId, callId));
  const [row] = await session.select({ found: reviews.found, judged: reviews.judged }).from(reviews).where(isThis).for('update');
  if (row === undefined) return;
  const both = part === 'found' ? [what, row.judged] : [row.found, what];
  const reasons = both.flatMap((each) => findings.parse(each).map(({ reason }) => reason));
  await session
    .update(reviews)
    .set({ [part]: what, reasons })
    .where(isThis);
  await session.delete(reviews).where(and(isThis, FORGOTTEN));
}
