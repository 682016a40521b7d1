import type { Clock } from '../kernel/clock.ts';
import type { Store } from './port.ts';
import { askForAnalysis } from './after-call/call-ended.ts';
import { RETENTION, POST_CALL, type JobQueue } from './queue/port.ts';
import { postCallJobId, recordingJobId } from './after-call/analyse-call.ts';
import { announceSubmission, askForSubmission } from './submissions/lifecycle.ts';
import { announceCampaigns, type WebhookDispatcher } from './webhooks/webhook-dispatcher.ts';

export interface SweepParts {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly dispatcher: WebhookDispatcher;
  readonly clock: Clock;
  /** What has been waiting for less than this is not lost yet, in ms; 60,000 when absent. */
  readonly settledMs?: number;
}

/** Asked for at once; the rest at the next sweep. */
const BATCH = 500;
/** Compressions queued at once: they share a queue with analyses, which are more urgent. */
const COMPRESSIONS = 50;
/** Quarters of an hour whose statistics are computed at once: a week. */
const SLOTS = 672;
const HOUR_MS = 3_600_000;

/**
 * Queues what the store says is still to be done, and gives up what the queue has given up: a queue that was emptied forgets, the store does not. A job that is there
 * already stays as it is. Recordings that are to be compressed are asked for here alone: that has time. Also asks for this hour's retention.
 */
export async function sweep({ store, queue, dispatcher, clock, settledMs = 60_000 }: SweepParts): Promise<void> {
  const settledAtMs = clock.wallMs() - settledMs;
  const awaiting = await store.calls.awaitingAnalysis({ endedBeforeMs: settledAtMs, limit: BATCH });
  // A job whose workers were killed too often fails without an entry in the store, and enqueueing it again changes nothing.
  const failed = awaiting.length === 0 ? [] : await queue.failed(POST_CALL, { limit: BATCH });
  const failedIds = new Set(failed.map(({ id }) => id));
  for (const { tenantId, callId } of awaiting) {
    if (failedIds.has(postCallJobId({ tenantId, callId }))) await store.calls.analysisFailed(tenantId, callId);
    else await askForAnalysis(queue, tenantId, callId);
  }
  for (const { format: recordingAs, ...ref } of await store.recordings.toCompress({
    endedBeforeMs: settledAtMs,
    limit: COMPRESSIONS,
  })) {
    await queue.enqueue(POST_CALL, recordingJobId(ref, clock.wallMs()), { ...ref, recordingAs });
  }
  for (const { tenantId, id } of await store.webhooks.pending({ untouchedSinceMs: settledAtMs, limit: BATCH })) {
    await dispatcher.queue(tenantId, id);
  }
  for (const { tenantId, submissionId } of await store.submissions.waiting({ untouchedSinceMs: settledAtMs, limit: BATCH })) {
    const submission = await store.submissions.get(tenantId, submissionId);
    if (submission !== undefined) await askForSubmission(queue, submission);
  }
  for (const submission of await store.submissions.unannounced(BATCH))
    await announceSubmission({ store, dispatcher, clock }, submission);
  await store.statistics.rollUp(SLOTS);
  await announceCampaigns({ campaigns: store.campaigns, dispatcher });
  const hour = Math.floor(clock.wallMs() / HOUR_MS);
  await queue.enqueue(RETENTION, `retention:${hour}`, {});
}
