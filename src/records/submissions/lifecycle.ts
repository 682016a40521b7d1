import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../port.ts';
import type { Submission, SubmissionRef, SubmissionItemRef } from '../submissions.ts';
import type { WebhookEvent } from '../webhooks/webhook-event.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import { ANALYSES, type JobQueue } from '../queue/port.ts';
import type { Uploads } from '../objects/recordings.ts';

/** With an index one recording, without one the submission: its job asks for those of its recordings. */
export const submissionSubject = z.object({
  tenantId: z.string().min(1),
  submissionId: z.string().min(1),
  round: z.int().nonnegative(),
  index: z.int().nonnegative().optional(),
});
export type SubmissionSubject = z.infer<typeof submissionSubject>;

/** The same for every wish to do the same recording in the same round: a repeat is a no-op. */
function submissionJobId({ tenantId, submissionId, round, index }: SubmissionSubject): string {
  return [ANALYSES, tenantId, submissionId, round, ...(index === undefined ? [] : [index])].join(':');
}

/** @throws QueueUnavailableError: the sweep will ask again */
export async function askForRecording(queue: Pick<JobQueue, 'enqueue'>, subject: SubmissionSubject): Promise<void> {
  await queue.enqueue(ANALYSES, submissionJobId(subject), subject);
}

/** Has a submission's recordings asked for, by a job of its own: there may be a thousand of them. @throws QueueUnavailableError */
export async function askForSubmission(queue: Pick<JobQueue, 'enqueue'>, submission: Submission): Promise<void> {
  const { tenantId, id: submissionId, round } = submission;
  await askForRecording(queue, { tenantId, submissionId, round });
}

/** A submission as a whole. `failed`: all of it has ended, and some of it badly. */
export function stateOf({ counts }: Pick<Submission, 'counts'>): 'queued' | 'running' | 'done' | 'failed' | 'cancelled' {
  const { queued, running, done, failed, cancelled } = counts;
  if (running > 0 || (queued > 0 && done + failed > 0)) return 'running';
  if (queued > 0) return 'queued';
  if (cancelled > 0) return 'cancelled';
  return failed > 0 ? 'failed' : 'done';
}

export function refOf({ tenantId, id: submissionId }: Submission): SubmissionRef {
  return { tenantId, submissionId };
}

interface AnnounceParts {
  readonly store: Pick<Store, 'submissions'>;
  readonly dispatcher: Pick<WebhookDispatcher, 'announce'>;
  readonly clock: Clock;
}

/**
 * Tells endpoints that a submission has ended. A cancelled one is not announced: its client cancelled it.
 * @throws StoreUnavailableError, QueueUnavailableError (retryable): the sweep will tell it
 */
export async function announceSubmission({ store, dispatcher, clock }: AnnounceParts, submission: Submission): Promise<void> {
  const state = stateOf(submission);
  if (state === 'done' || state === 'failed') await dispatcher.announce(submissionEnded(submission, state));
  await store.submissions.announced(refOf(submission), clock.wallMs());
}

function submissionEnded(submission: Submission, state: 'done' | 'failed'): WebhookEvent {
  const { tenantId, id, profile, createdAtMs, endedAtMs = createdAtMs, round, counts } = submission;
  return {
    type: state === 'done' ? 'analysis.completed' : 'analysis.failed',
    tenantId,
    callId: id,
    of: 'recordings',
    part: `${round}`,
    atMs: endedAtMs,
    data: { profile, state, done: counts.done, failed: counts.failed },
    numbers: {},
    words: {},
  };
}

interface RemoveParts {
  readonly store: Pick<Store, 'submissions'>;
  readonly uploads: Pick<Uploads, 'remove'>;
}

/** Removed at a time, so that a long list does not have to be held. */
const BATCH = 200;

/** The object first: where it cannot be removed, the store still names it. @throws ObjectStoreError, StoreUnavailableError */
export async function removeUpload(
  { store, uploads }: RemoveParts,
  { object, ...ref }: SubmissionItemRef & { readonly object: string },
): Promise<void> {
  await uploads.remove(object);
  await store.submissions.uploadRemoved(ref);
}

/**
 * Destroys a submission, its uploads first.
 * @returns false when there is no such submission
 * @throws ObjectStoreError, StoreUnavailableError (retryable): it is still there, and can be removed again
 */
export async function removeSubmission({ store, uploads }: RemoveParts, ref: SubmissionRef): Promise<boolean> {
  const objects = await store.submissions.uploads(ref);
  if (objects === undefined) return false;
  for (const object of objects) await uploads.remove(object);
  await store.submissions.remove(ref);
  return true;
}

/** Removes uploads of recordings that are done, where that was not possible at once. @throws as `removeUpload` does */
export async function removeLeftUploads(parts: RemoveParts, signal: AbortSignal): Promise<void> {
  for (;;) {
    const left = await parts.store.submissions.uploadsLeft(BATCH);
    for (const upload of left) {
      signal.throwIfAborted();
      await removeUpload(parts, upload);
    }
    if (left.length < BATCH) return;
  }
}
