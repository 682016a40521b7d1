import type { RetryPolicy } from './bull-queue.ts';

/** Analyses one call after its end, or compresses its recording. */
export const POST_CALL = 'post-call';
/** Analyses one recording from elsewhere. */
export const ANALYSES = 'analyses';
/** Sends one delivery to one endpoint. */
export const WEBHOOKS = 'webhooks';
/** Erases data whose retention time is over. */
export const RETENTION = 'retention';

/** Places one call of a campaign. Done by gateways, not by workers. */
export const DIALS = 'dials';

/** Makes promised call-backs. Gateways work on it too. */
export const CALL_BACKS = 'call-backs';

/** Queues of workers. */
export const QUEUES = [POST_CALL, ANALYSES, WEBHOOKS, RETENTION] as const;
export type QueueName = (typeof QUEUES)[number];
/** All queues. */
export const ALL_QUEUES = [...QUEUES, DIALS, CALL_BACKS] as const;
export type AnyQueueName = (typeof ALL_QUEUES)[number];

/** Purposes, for the dashboard. */
export const QUEUE_PURPOSES: Readonly<Record<AnyQueueName, string>> = {
  'post-call': 'Analyses of calls after their end',
  analyses: 'Analyses of recordings from elsewhere',
  webhooks: 'Deliveries of events to their endpoints',
  retention: 'Erasure of what has been kept for long enough',
  dials: 'Calls of campaigns on their way to a carrier',
  'call-backs': 'Calls that were promised to callers while a bot’s server was down',
};

/**
 * A dial without a free place is retried by any process with one, until the gate's approval ends, after a minute. Its id need not be known longer:
 * the stored attempt shows that it was placed.
 */
export const DIAL_RETRY: RetryPolicy = {
  attempts: 300,
  backoff: { firstMs: 400, factor: 1, maxMs: 400, jitter: 0.25 },
  remember: { age: 600, count: 1000 },
};

/** About two days: after one minute, two, four, then every fifteen. The person is called once. */
export const CALL_BACK_RETRY: RetryPolicy = {
  attempts: 200,
  backoff: { firstMs: 60_000, factor: 2, maxMs: 900_000, jitter: 0.1 },
};

/** Sixteen tries over a day: 5 s, 15 s, 45 s, then longer, up to three hours apart. */
export const WEBHOOK_RETRY: RetryPolicy = {
  attempts: 16,
  backoff: { firstMs: 5_000, factor: 3, maxMs: 10_800_000, jitter: 0.1 },
};
