import { sql } from 'drizzle-orm';
import { doublePrecision, foreignKey, index, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { ofTenant, offhook, sealed, tenant, wallMs } from './schema.ts';

/** A request to analyse recordings from elsewhere; words, names and sound are under its own keys in `call_keys`. */
export const submissions = offhook.table(
  'submissions',
  {
    tenantId: tenant(),
    id: text('id').notNull(),
    profile: text('profile').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
    /** When all of it was finished. */
    endedAtMs: wallMs('ended_at_ms'),
    /** When its end was announced. */
    announcedAtMs: wallMs('announced_at_ms'),
    /** Number of restarts. */
    round: integer('round').notNull().default(0),
    /** Counts of recordings by state. */
    queued: integer('queued').notNull().default(0),
    running: integer('running').notNull().default(0),
    done: integer('done').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    cancelled: integer('cancelled').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index('submissions_recent').on(table.tenantId, table.createdAtMs.desc().nullsFirst(), table.id.desc().nullsFirst()),
    index('submissions_unannounced')
      .on(table.endedAtMs)
      .where(sql`announced_at_ms IS NULL`),
    ofTenant(),
  ],
);

/** One recording of a submission. */
export const submissionItems = offhook.table(
  'submission_items',
  {
    tenantId: tenant(),
    submissionId: text('submission_id').notNull(),
    index: integer('index').notNull(),
    state: text('state', { enum: ['queued', 'running', 'done', 'failed', 'cancelled'] }).notNull(),
    attempts: integer('attempts').notNull().default(0),
    updatedAtMs: wallMs('updated_at_ms').notNull(),
    /** Key of the sealed upload in the object store, while it is there. */
    uploadObject: text('upload_object'),
    sha256: text('sha256'),
    bytes: wallMs('bytes'),
    /** Name and hash of the profile that made the document. */
    profileKey: text('profile_key'),
    disposition: text('disposition'),
    score: doublePrecision('score'),
    /** A stable code and a text for people: why it failed, or waits for another try. */
    code: text('code'),
    reason: text('reason'),
    /** Name, address and metadata. */
    personal: sealed('personal').notNull(),
    document: sealed('document'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.submissionId, table.index] }),
    foreignKey({
      columns: [table.tenantId, table.submissionId],
      foreignColumns: [submissions.tenantId, submissions.id],
    }).onDelete('cascade'),
    index('submission_items_by_content')
      .on(table.tenantId, table.sha256, table.profileKey)
      .where(sql`state = 'done'`),
    index('submission_items_open')
      .on(table.updatedAtMs)
      .where(sql`state IN ('queued', 'running')`),
    index('submission_items_left')
      .on(table.updatedAtMs)
      .where(sql`state = 'done' AND upload_object IS NOT NULL`),
    ofTenant(),
  ],
);
