import { type SQL, and, eq, getTableColumns } from 'drizzle-orm';
import { z } from 'zod';
import { StoreUnavailableError } from '../errors.ts';
import type { CallKey } from './keys.ts';
import { present } from './query.ts';
import { submissionItems as items, submissions } from './submission-schema.ts';
import type { Submission, SubmissionItem, SubmissionItemRef, SubmissionRef, SubmissionState } from '../submissions.ts';

const personal = z.object({
  name: z.string(),
  url: z.string().optional(),
  recordedAtMs: z.number().optional(),
  metadata: z.record(z.string(), z.string()),
});

export type SubmissionRow = typeof submissions.$inferSelect;
type ItemRow = Omit<typeof items.$inferSelect, 'document'>;

/** A document may be large, and is read separately. */
const { document: _document, ...withoutDocument } = getTableColumns(items);
export { withoutDocument };

/** Finds a submission. */
export function isOne({ tenantId, submissionId }: SubmissionRef): SQL | undefined {
  return and(eq(submissions.tenantId, tenantId), eq(submissions.id, submissionId));
}

/** Finds all its recordings. */
export function ofSubmission({ tenantId, submissionId }: SubmissionRef): SQL | undefined {
  return and(eq(items.tenantId, tenantId), eq(items.submissionId, submissionId));
}

/** Finds one of them. */
export function isItem(ref: SubmissionItemRef): SQL | undefined {
  return and(ofSubmission(ref), eq(items.index, ref.index));
}

/** Whether a recording has still to be analysed. */
export function isOpen(state: SubmissionState): boolean {
  return state === 'queued' || state === 'running';
}

/** Name under which a recording's own words are sealed. */
export function itemName(index: number): string {
  return `item/${index}`;
}

/** Name under which its result is sealed. */
export function documentName(index: number): string {
  return `item/${index}/document`;
}

/** Converts a row. @throws StoreUnavailableError when the submission was removed concurrently */
export function submissionOf(found: SubmissionRow | undefined): Submission {
  if (found === undefined) throw new StoreUnavailableError('a submission was removed while it was asked for');
  const { tenantId, id, profile, createdAtMs, endedAtMs, round, ...row } = found;
  const { queued, running, done, failed, cancelled } = row;
  const counts = { queued, running, done, failed, cancelled };
  return { tenantId, id, profile, createdAtMs, endedAtMs: endedAtMs ?? undefined, round, counts };
}

/**
 * Converts a row and opens its personal part.
 * @throws StoreKeyError when its key does not open it
 */
export function itemOf(row: ItemRow, key: CallKey): SubmissionItem {
  const { tenantId: _tenantId, submissionId: _id, personal: sealed, ...facts } = row;
  const { name, url, recordedAtMs, metadata } = personal.parse(key.open(itemName(row.index), sealed));
  return { ...present(facts), name, url, recordedAtMs, metadata };
}
