import { z } from 'zod';
import { ALL_QUEUES } from '../../../records/queue/catalog.ts';

const wallTime = z.iso.datetime();

/** What can be wrong with a gateway, the worst first. */
export const PROBLEM_CODES = [
  'store-down',
  'processes-missing',
  'speech-down',
  'disk-full',
  'late',
  'bot-down',
  'draining',
  'speech-partly',
  'breaker-open',
  'vendor-failing',
  'speech-waiting',
  'calls-full',
  'disk-low',
  'outbox-long',
  'outbox-rejected',
  'jobs-failed',
  'jobs-waiting',
  'webhooks-refused',
  'marks-missing',
  'address-missing',
  'address-plain',
  'proxy-untrusted',
  'bots-refused',
  'campaign-paused',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

export const systemProblemView = z.object({
  code: z.enum(PROBLEM_CODES),
  /** `error`: calls are lost, refused or not kept. */
  severity: z.enum(['error', 'warning']),
  /** What is wrong, and what to do, in English. */
  what: z.string(),
  remedy: z.string(),
  /** What the texts are about, by name: for texts in other languages. */
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
});

/** How a gateway is, with all its processes. */
export const systemView = z.object({
  version: z.string(),
  startedAt: wallTime,
  /** Answers are some seconds old at most. */
  checkedAt: wallTime,
  /** Empty when all is well. */
  problems: z.array(systemProblemView),
  calls: z.object({ live: z.int(), most: z.int(), draining: z.boolean() }),
  /** How long callers have waited for replies since the start: all replies, and those that took no longer than each limit. */
  replies: z.object({ count: z.int(), upTo: z.array(z.object({ ms: z.number(), count: z.int() })) }),
  processes: z.array(
    z.object({
      /** `gateway`, or `front` and `media 1` and so on. */
      name: z.string(),
      pid: z.int().nullable(),
      state: z.enum(['up', 'silent', 'leaving']),
      /** 99th percentile of the event loop's lag. */
      lagMs: z.number(),
      /** Whether it refuses calls because of it. */
      shedding: z.boolean(),
      /** Null where it has none of its own. */
      calls: z.int().nullable(),
    }),
  ),
  machine: z.object({
    cores: z.int(),
    /** Processes that want to run, over the last minute. */
    load: z.number(),
    memoryBytes: z.number(),
    memoryFreeBytes: z.number(),
    /** Of the disk that has the data folder. */
    diskBytes: z.number(),
    diskFreeBytes: z.number(),
  }),
  store: z.object({ kind: z.enum(['embedded', 'server']), state: z.enum(['ok', 'down']) }),
  /** Ended calls and recordings on their way from the disk to the store, and what the store will never take. */
  outbox: z.object({ calls: z.int(), recordings: z.int(), rejected: z.int() }),
  speech: z.object({
    /** `partly` where some bots alone could be served. */
    state: z.enum(['ok', 'partly', 'down']),
    slots: z.array(
      z.object({
        vendor: z.string(),
        service: z.enum(['asr', 'tts']),
        live: z.int(),
        batch: z.int(),
        waiting: z.int(),
        most: z.int(),
      }),
    ),
    /** Services that are not asked for some seconds, because they failed again and again. */
    openBreakers: z.array(z.string()),
    /** Vendors that failed in a call within the last minute: others are asked first. */
    failing: z.array(z.object({ service: z.enum(['recognition', 'synthesis']), vendor: z.string() })),
  }),
  queues: z.object({
    backend: z.enum(['redis', 'postgres']),
    /** Of all tenants; empty while the queue does not answer. */
    queues: z.array(
      z.object({
        name: z.enum(ALL_QUEUES),
        purpose: z.string(),
        waiting: z.int(),
        active: z.int(),
        delayed: z.int(),
        failed: z.int(),
        /** When the job was queued that waits for a worker the longest; null where none waits. */
        oldestAt: wallTime.nullable(),
      }),
    ),
  }),
  /** Those that are configured, or were heard of. */
  carriers: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      /** Whether its secret is configured; without, it is believed on this machine alone. */
      configured: z.boolean(),
      live: z.int(),
      lastCallAt: wallTime.nullable(),
      lastRefusalAt: wallTime.nullable(),
      /** Why its last webhook or socket was refused. */
      lastRefusal: z.string().nullable(),
      /** Whether its latest call got too few of its playout marks back, so that what was heard is estimated. */
      marksMissing: z.boolean(),
    }),
  ),
  /** Addresses of proxies that send X-Forwarded-For and are not among `http.trustedProxies`. */
  untrustedProxies: z.array(z.string()),
  bots: z.object({
    count: z.int(),
    reloadedAt: wallTime.nullable(),
    /** Of the last reload: with problems, nothing was changed. */
    problems: z.array(z.string()),
    /** Names of bots whose servers are down, or have not answered since. */
    down: z.array(z.string()),
  }),
});

export type SystemState = Omit<z.output<typeof systemView>, 'problems'>;
export type SystemProblem = z.output<typeof systemProblemView>;
