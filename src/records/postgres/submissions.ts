import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { checkLimit, equals, pageOf, pastCursor } from './query.ts';
import type { CallKey } from './keys.ts';
import { webhookDeliveries } from './schema.ts';
import { submissionItems as items, submissions } from './submission-schema.ts';
import { storable } from '../record.ts';
import {
  documentName,
  isItem,
  isOne,
  isOpen,
  itemName,
  itemOf,
  ofSubmission,
  submissionOf,
  type SubmissionRow,
  withoutDocument,
} from './submission-rows.ts';
import type {
  ItemOutcome,
  NewSubmission,
  Submission,
  SubmissionItem,
  SubmissionItemRef,
  SubmissionPage,
  SubmissionRef,
  SubmissionRepository,
  SubmissionState,
} from '../submissions.ts';
import { Repository } from './repository.ts';
import { type Session, inStoreErrors } from './tenancy.ts';

/** Most rows of a recording searched for another of the same time. */
const MOST_COPIES = 20;

/** Every change of a recording's state locks its submission's row, so that the counts there stay right. */
export class PostgresSubmissions extends Repository implements SubmissionRepository {
  create({ tenantId, id, profile, createdAtMs, items: recordings }: NewSubmission): Promise<Submission> {
    return this.atOnce(tenantId, async (tx) => {
      const key = await this.keys.obtain(tx, tenantId, id, 'text');
      const atMs = Math.round(createdAtMs);
      const [made] = await tx
        .insert(submissions)
        .values({ tenantId, id, profile, createdAtMs: atMs, queued: recordings.length })
        .onConflictDoNothing()
        .returning();
      if (made === undefined) {
        const [known] = await tx
          .select()
          .from(submissions)
          .where(isOne({ tenantId, submissionId: id }));
        return submissionOf(known);
      }
      const rows = recordings.map(({ uploadObject, ...said }, index) => ({
        tenantId,
        submissionId: id,
        index,
        state: 'queued' as const,
        updatedAtMs: atMs,
        uploadObject,
        personal: key.seal(itemName(index), storable(said)),
      }));
      if (rows.length > 0) await tx.insert(items).values(rows);
      return submissionOf(made);
    });
  }

  async get(tenantId: string, id: string): Promise<Submission | undefined> {
    const [row] = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(submissions)
        .where(isOne({ tenantId, submissionId: id })),
    );
    return row === undefined ? undefined : submissionOf(row);
  }

  async page(tenantId: string, query: Parameters<SubmissionRepository['page']>[1]): Promise<SubmissionPage> {
    const { limit, before, profile } = query;
    checkLimit(limit);
    const past = pastCursor(before, [submissions.createdAtMs, submissions.id]);
    const where = and(eq(submissions.tenantId, tenantId), equals(submissions, { profile }), past);
    const rows = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(submissions)
        .where(where)
        .orderBy(desc(submissions.createdAtMs), desc(submissions.id))
        .limit(limit + 1),
    );
    const { page, next } = pageOf(rows, limit, (row) => [row.createdAtMs, row.id]);
    return { submissions: page.map(submissionOf), next };
  }

  items(ref: SubmissionRef, query: Parameters<SubmissionRepository['items']>[1]): Promise<readonly SubmissionItem[]> {
    const { after, limit, state } = query;
    checkLimit(limit);
    const wanted = and(ofSubmission(ref), gt(items.index, after), equals(items, { state }));
    return this.ask(ref.tenantId, async (session) => {
      const rows = await session.select(withoutDocument).from(items).where(wanted).orderBy(asc(items.index)).limit(limit);
      const key = await this.#key(session, ref);
      return key === undefined ? [] : rows.map((row) => itemOf(row, key));
    });
  }

  async queued(ref: SubmissionRef): Promise<readonly number[]> {
    const rows = await this.ask(ref.tenantId, (session) =>
      session
        .select({ index: items.index })
        .from(items)
        .where(and(ofSubmission(ref), inArray(items.state, ['queued', 'running'])))
        .orderBy(asc(items.index)),
    );
    return rows.map(({ index }) => index);
  }

  document(ref: SubmissionItemRef): Promise<unknown> {
    return this.ask(ref.tenantId, async (session) => {
      const [row] = await session.select({ document: items.document }).from(items).where(isItem(ref));
      const key = await this.#key(session, ref);
      return row === undefined || row.document === null ? undefined : key?.open(documentName(ref.index), row.document);
    });
  }

  sameContent(tenantId: string, sha256: string, profileKey: string, recordedAtMs: number | undefined): Promise<unknown> {
    const same = and(
      eq(items.tenantId, tenantId),
      eq(items.sha256, sha256),
      eq(items.profileKey, profileKey),
      sql`${items.state} = 'done'`,
    );
    return this.ask(tenantId, async (session) => {
      // A recording's metadata is sealed, so it is compared here.
      const rows = await session.select(withoutDocument).from(items).where(same).limit(MOST_COPIES);
      for (const row of rows) {
        const { submissionId, index } = row;
        const key = await this.#key(session, row);
        if (key === undefined || itemOf(row, key).recordedAtMs !== recordedAtMs) continue;
        const [found] = await session
          .select({ document: items.document })
          .from(items)
          .where(isItem({ tenantId, submissionId, index }));
        if (found !== undefined && found.document !== null) return key.open(documentName(index), found.document);
      }
      return undefined;
    });
  }

  begin(ref: SubmissionItemRef, atMs: number): Promise<SubmissionItem | undefined> {
    return this.atOnce(ref.tenantId, async (tx) => {
      const known = await this.#locked(tx, ref);
      if (known === undefined) return undefined;
      const [row] = await tx.select(withoutDocument).from(items).where(isItem(ref));
      const key = await this.#key(tx, ref);
      if (row === undefined || key === undefined || !isOpen(row.state)) return undefined;
      const change = { state: 'running', attempts: row.attempts + 1, updatedAtMs: Math.round(atMs) } as const;
      await tx.update(items).set(change).where(isItem(ref));
      await this.#count(tx, ref, known, row.state, 'running', atMs);
      return itemOf({ ...row, ...change }, key);
    });
  }

  finish(ref: SubmissionItemRef, outcome: ItemOutcome, atMs: number): Promise<Submission | undefined> {
    return this.atOnce(ref.tenantId, async (tx) => {
      const known = await this.#locked(tx, ref);
      if (known === undefined) return undefined;
      const [row] = await tx.select({ state: items.state }).from(items).where(isItem(ref));
      const key = await this.#key(tx, ref);
      if (row === undefined || key === undefined || !isOpen(row.state)) return submissionOf(known);
      const updatedAtMs = Math.round(atMs);
      if (outcome.state === 'done') {
        const { document, disposition = null, score = null, ...facts } = outcome;
        const sealedDocument = key.seal(documentName(ref.index), storable(document));
        const change = { ...facts, disposition, score, updatedAtMs, code: null, reason: null };
        await tx
          .update(items)
          .set({ ...change, document: sealedDocument })
          .where(isItem(ref));
      } else
        await tx
          .update(items)
          .set({ ...outcome, updatedAtMs })
          .where(isItem(ref));
      return this.#count(tx, ref, known, row.state, outcome.state, atMs);
    });
  }

  retry(ref: SubmissionRef, index: number | undefined, atMs: number): Promise<number | undefined> {
    return this.atOnce(ref.tenantId, async (tx) => {
      const known = await this.#locked(tx, ref);
      if (known === undefined) return undefined;
      const wanted = and(ofSubmission(ref), equals(items, { state: 'failed', index }));
      const again = await tx
        .update(items)
        .set({ state: 'queued', updatedAtMs: Math.round(atMs), code: null, reason: null })
        .where(wanted)
        .returning({ index: items.index });
      if (again.length > 0) {
        const counts = { queued: known.queued + again.length, failed: known.failed - again.length };
        await tx
          .update(submissions)
          .set({ ...counts, round: known.round + 1, endedAtMs: null, announcedAtMs: null })
          .where(isOne(ref));
      }
      return again.length;
    });
  }

  cancel(ref: SubmissionRef, atMs: number): Promise<Submission | undefined> {
    return this.atOnce(ref.tenantId, async (tx) => {
      const known = await this.#locked(tx, ref);
      if (known === undefined || known.queued + known.running === 0) return known && submissionOf(known);
      await tx
        .update(items)
        .set({ state: 'cancelled', updatedAtMs: Math.round(atMs) })
        .where(and(ofSubmission(ref), inArray(items.state, ['queued', 'running'])));
      const cancelled = known.cancelled + known.queued + known.running;
      const [row] = await tx
        .update(submissions)
        .set({ queued: 0, running: 0, cancelled, endedAtMs: Math.round(atMs) })
        .where(isOne(ref))
        .returning();
      return submissionOf(row);
    });
  }

  async uploads(ref: SubmissionRef): Promise<readonly string[] | undefined> {
    return this.atOnce(ref.tenantId, async (tx) =>
      (await this.#locked(tx, ref)) === undefined ? undefined : uploadsOf(tx, ref),
    );
  }

  async uploadRemoved(ref: SubmissionItemRef): Promise<void> {
    await this.ask(ref.tenantId, (session) => session.update(items).set({ uploadObject: null }).where(isItem(ref)));
  }

  async uploadsLeft(limit: number): Promise<readonly (SubmissionItemRef & { readonly object: string })[]> {
    const { tenantId, submissionId, index, uploadObject } = items;
    const rows = await inStoreErrors(
      this.tenancy.owner
        .select({ tenantId, submissionId, index, object: uploadObject })
        .from(items)
        .where(sql`state = 'done' AND upload_object IS NOT NULL`)
        .orderBy(asc(items.updatedAtMs))
        .limit(limit),
    );
    return rows.flatMap(({ object, ...ref }) => (object === null ? [] : [{ ...ref, object }]));
  }

  remove(ref: SubmissionRef): Promise<readonly string[] | undefined> {
    const { tenantId, submissionId } = ref;
    return this.atOnce(tenantId, async (tx) => {
      if ((await this.#locked(tx, ref)) === undefined) return undefined;
      const kept = await uploadsOf(tx, ref);
      for (const kind of ['text', 'audio'] as const) await this.keys.destroy(tx, tenantId, submissionId, kind);
      await tx
        .delete(webhookDeliveries)
        .where(and(eq(webhookDeliveries.tenantId, tenantId), eq(webhookDeliveries.callId, submissionId)));
      await tx.delete(submissions).where(isOne(ref));
      return kept;
    });
  }

  async unannounced(limit: number): Promise<readonly Submission[]> {
    const ended = and(isNotNull(submissions.endedAtMs), isNull(submissions.announcedAtMs));
    const rows = await inStoreErrors(
      this.tenancy.owner.select().from(submissions).where(ended).orderBy(asc(submissions.endedAtMs)).limit(limit),
    );
    return rows.map(submissionOf);
  }

  async announced(ref: SubmissionRef, atMs: number): Promise<void> {
    await this.ask(ref.tenantId, (session) =>
      session
        .update(submissions)
        .set({ announcedAtMs: Math.round(atMs) })
        .where(isOne(ref)),
    );
  }

  waiting(query: { untouchedSinceMs: number; limit: number }): Promise<readonly SubmissionRef[]> {
    return inStoreErrors(
      this.tenancy.owner
        .selectDistinct({ tenantId: items.tenantId, submissionId: items.submissionId })
        .from(items)
        .where(and(sql`${items.state} IN ('queued', 'running')`, lt(items.updatedAtMs, query.untouchedSinceMs)))
        .limit(query.limit),
    );
  }

  endedBefore(query: { endedBeforeMs: number; limit: number }): Promise<readonly SubmissionRef[]> {
    return inStoreErrors(
      this.tenancy.owner
        .select({ tenantId: submissions.tenantId, submissionId: submissions.id })
        .from(submissions)
        .where(lt(submissions.endedAtMs, query.endedBeforeMs))
        .limit(query.limit),
    );
  }

  async #locked(tx: Session, ref: SubmissionRef): Promise<SubmissionRow | undefined> {
    const [row] = await tx.select().from(submissions).where(isOne(ref)).for('update');
    return row;
  }

  async #count(
    tx: Session,
    ref: SubmissionRef,
    known: SubmissionRow,
    from: SubmissionState,
    to: SubmissionState,
    atMs: number,
  ): Promise<Submission> {
    if (from === to) return submissionOf(known);
    const counts = { [from]: known[from] - 1, [to]: known[to] + 1 };
    const { queued, running } = { ...known, ...counts };
    const isOver = queued + running === 0;
    const [row] = await tx
      .update(submissions)
      .set({ ...counts, ...(isOver ? { endedAtMs: Math.round(atMs) } : {}) })
      .where(isOne(ref))
      .returning();
    return submissionOf(row);
  }

  #key(session: Session, { tenantId, submissionId }: SubmissionRef): Promise<CallKey | undefined> {
    return this.keys.find(session, tenantId, submissionId, 'text');
  }
}

async function uploadsOf(session: Session, ref: SubmissionRef): Promise<readonly string[]> {
  const rows = await session
    .select({ object: items.uploadObject })
    .from(items)
    .where(and(ofSubmission(ref), isNotNull(items.uploadObject)));
  return rows.flatMap(({ object }) => object ?? []);
}
