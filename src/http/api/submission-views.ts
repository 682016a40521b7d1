import { z } from 'zod';
import { stateOf } from '../../jobs/submissions/job.ts';
import type { Submission, SubmissionItem } from '../../store/submissions.ts';
import { isoTime } from './call-views.ts';

const states = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;

/** A submission as a whole. */
export const submissionView = z.object({
  id: z.string(),
  profile: z.string(),
  state: z.enum(states),
  /** Why it counts as failed. */
  reason: z.string().nullable(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  counts: z.object({ queued: z.int(), running: z.int(), done: z.int(), failed: z.int(), cancelled: z.int() }),
});

/** One recording of it. */
export const itemView = z.object({
  index: z.int(),
  name: z.string(),
  url: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  state: z.enum(states),
  attempts: z.int(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  sha256: z.string().nullable(),
  bytes: z.int().nullable(),
  disposition: z.string().nullable(),
  score: z.number().nullable(),
  updatedAt: z.iso.datetime(),
});

export function viewOfSubmission(submission: Submission): z.output<typeof submissionView> {
  const { id, profile, createdAtMs, endedAtMs, counts } = submission;
  const state = stateOf(submission);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    id,
    profile,
    state,
    counts,
    reason: state === 'failed' ? `${counts.failed} of ${total} recordings failed: see items` : null,
    createdAt: isoTime(createdAtMs),
    endedAt: endedAtMs === undefined ? null : isoTime(endedAtMs),
  };
}

export function viewOfItem(item: SubmissionItem): z.output<typeof itemView> {
  const { index, name, url, metadata, state, attempts, code, reason, sha256, bytes, disposition, score, updatedAtMs } = item;
  return {
    index,
    name,
    metadata,
    state,
    attempts,
    url: url ?? null,
    code: code ?? null,
    reason: reason ?? null,
    sha256: sha256 ?? null,
    bytes: bytes ?? null,
    disposition: disposition ?? null,
    score: score ?? null,
    updatedAt: isoTime(updatedAtMs),
  };
}
