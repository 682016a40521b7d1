import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/port.ts';
import type { Submission } from '../../store/submissions.ts';
import type { WebhookEvent } from '../webhooks/webhook-event.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import { refOf, stateOf } from './job.ts';

interface AnnounceParts {
  readonly store: Pick<Store, 'submissions'>;
  readonly desk: Pick<WebhookDispatcher, 'announce'>;
  readonly clock: Clock;
}

/**
 * Tells endpoints that a submission has ended. What was cancelled is told to nobody: whoever did it knows.
 * @throws StoreUnavailableError, QueueUnavailableError (retryable): the sweep will tell it
 */
export async function announceSubmission({ store, desk, clock }: AnnounceParts, submission: Submission): Promise<void> {
  const state = stateOf(submission);
  if (state === 'done' || state === 'failed') await desk.announce(submissionEnded(submission, state));
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
