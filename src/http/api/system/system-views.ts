import { z } from 'zod';
import { ALL_QUEUES } from '../../../records/queue/port.ts';

const wallTime = z.iso.datetime();

/** Problems of a gateway, worst first. */
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
  /** `error`: calls are lost, refused or not saved. */
  severity: z.enum(['error', 'warning']),
  /** Description and advice, in English. */
  what: z.string(),
  remedy: z.string(),
  /** Named facts of the texts, for translation. */
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
});

/** State of a gateway with all its processes. */
export const systemView = z.object({
  version: z.string(),
  startedAt: wallTime,
  /** Answers are at most some seconds old. */
  checkedAt: wallTime,
  /** Empty when all is well. */
  problems: z.array(systemProblemView),
  calls: z.object({ live: z.int(), most: z.int(), draining: z.boolean() }),
  /** Callers' waits for replies since the start: all replies, and those within each limit. */
  replies: z.object({ count: z.int(), upTo: z.array(z.object({ ms: z.number(), count: z.int() })) }),
  processes: z.array(
    z.object({
      /** `gateway`, or `front` and `media 1` and so on. */
      name: z.string(),
      pid: z.int().nullable(),
      state: z.enum(['up', 'silent', 'leaving']),
      /** 99th percentile of the event loop's lag. */
      lagMs: z.number(),
      /** Whether it refuses calls because of lag. */
      shedding: z.boolean(),
      /** Null for a process without calls. */
      calls: z.int().nullable(),
    }),
  ),
  machine: z.object({
    cores: z.int(),
    /** Runnable processes, averaged over the last minute. */
    load: z.number(),
    memoryBytes: z.number(),
    memoryFreeBytes: z.number(),
    /** Free space on the data folder's disk. */
    diskBytes: z.number(),
    diskFreeBytes: z.number(),
  }),
  store: z.object({ kind: z.enum(['embedded', 'server']), state: z.enum(['ok', 'down']) }),
  /** Ended calls and recordings waiting for the store, and those it rejects. */
  outbox: z.object({ calls: z.int(), recordings: z.int(), rejected: z.int() }),
  speech: z.object({
    /** `partly`: some bots cannot be served. */
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
    /** Services that are skipped for some seconds after repeated failures. */
    openBreakers: z.array(z.string()),
    /** Vendors that failed in a call within the last minute; others are tried first. */
    failing: z.array(z.object({ service: z.enum(['recognition', 'synthesis']), vendor: z.string() })),
  }),
  queues: z.object({
    backend: z.enum(['redis', 'postgres']),
    /** Queues of all tenants; empty while the queue is unavailable. */
    queues: z.array(
      z.object({
        name: z.enum(ALL_QUEUES),
        purpose: z.string(),
        waiting: z.int(),
        active: z.int(),
        delayed: z.int(),
        failed: z.int(),
        /** Queueing time of the job that waits longest for a worker; null without one. */
        oldestAt: wallTime.nullable(),
      }),
    ),
  }),
  /** Carriers that are configured, or have sent something. */
  carriers: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      /** Whether its secret is configured; otherwise it is accepted from this machine only. */
      configured: z.boolean(),
      live: z.int(),
      lastCallAt: wallTime.nullable(),
      lastRefusalAt: wallTime.nullable(),
      /** Why its last webhook or socket was refused. */
      lastRefusal: z.string().nullable(),
      /** Whether its latest call got too few marks back, so that heard text is estimated. */
      marksMissing: z.boolean(),
    }),
  ),
  /** Proxies that send X-Forwarded-For but are not in `http.trustedProxies`. */
  untrustedProxies: z.array(z.string()),
  bots: z.object({
    count: z.int(),
    reloadedAt: wallTime.nullable(),
    /** Problems of the last reload, which then changed nothing. */
    problems: z.array(z.string()),
    /** Bots whose servers are down, or have not answered since. */
    down: z.array(z.string()),
  }),
});

export type SystemState = Omit<z.output<typeof systemView>, 'problems'>;
export type SystemProblem = z.output<typeof systemProblemView>;
