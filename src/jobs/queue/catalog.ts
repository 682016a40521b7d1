import type { RetryPolicy } from './bull-queue.ts';

/** Analyses one call after its end, or compresses its recording. */
export const POST_CALL = 'post-call';
/** Analyses one recording from elsewhere. */
export const ANALYSES = 'analyses';
/** Sends one delivery to one endpoint. */
export const WEBHOOKS = 'webhooks';
/** Erases what has been kept for as long as its bot says. */
export const RETENTION = 'retention';

/** Every queue there is. */
export const QUEUES = [POST_CALL, ANALYSES, WEBHOOKS, RETENTION] as const;
export type QueueName = (typeof QUEUES)[number];

/** What each is for, in the dashboard's words. */
export const QUEUE_PURPOSES: Readonly<Record<QueueName, string>> = {
  'post-call': 'Analyses of calls after their end',
  analyses: 'Analyses of recordings from elsewhere',
  webhooks: 'Deliveries of events to their endpoints',
  retention: 'Erasure of what has been kept for long enough',
};

/** Sixteen tries over a day: 5 s, 15 s, 45 s, then longer, up to three hours apart. */
export const WEBHOOK_RETRY: RetryPolicy = {
  attempts: 16,
  backoff: { firstMs: 5_000, factor: 3, maxMs: 10_800_000, jitter: 0.1 },
};
