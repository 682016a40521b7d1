import { type SQL, and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { StoreUnavailableError } from '../errors.ts';
import type { CallKey } from './keys.ts';
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
export const withoutDocument = {
  tenantId: items.tenantId,
  submissionId: items.submissionId,
  index: items.index,
  state: items.state,
  attempts: items.attempts,
  updatedAtMs: items.updatedAtMs,
  uploadObject: items.uploadObject,
  sha256: items.sha256,
  bytes: items.bytes,
  profileKey: items.profileKey,
  disposition: items.disposition,
  score: items.score,
  code: items.code,
  reason: items.reason,
  personal: items.personal,
};

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
  const { index, state, attempts, updatedAtMs, ...rest } = row;
  const { name, url, recordedAtMs, metadata } = personal.parse(key.open(itemName(index), row.personal));
  return {
    index,
    state,
    attempts,
    updatedAtMs,
    name,
    url,
    recordedAtMs,
    metadata,
    uploadObject: rest.uploadObject ?? undefined,
    sha256: rest.sha256 ?? undefined,
    bytes: rest.bytes ?? undefined,
    profileKey: rest.profileKey ?? undefined,
    disposition: rest.disposition ?? undefined,
    score: rest.score ?? undefined,
    code: rest.code ?? undefined,
    reason: rest.reason ?? undefined,
  };
}
