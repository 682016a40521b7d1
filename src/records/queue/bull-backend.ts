import {
  type BackendFactory,
  type IQueueBackend,
  type JobsOptions,
  type Processor,
  type Queue,
  type Worker,
  type WorkerOptions,
  createPostgresBackend,
  createRedisBackend,
  withBackend,
} from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../database.ts';
import { QUEUE_SCHEMA } from '../postgres/connection.ts';
import { connectRedis, parseRedisAddress } from '../../kernel/redis-address.ts';

export type BullQueue = Pick<
  Queue,
  'add' | 'addBulk' | 'getJobCounts' | 'getFailed' | 'getWaiting' | 'getJob' | 'retryJobs' | 'close'
> & {
  waitUntilReady(): Promise<unknown>;
};
export type BullWorker = Pick<Worker, 'close'> & { waitUntilReady(): Promise<unknown> };
export type BullWorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix'>;

/** Where BullMQ keeps its jobs. */
export interface BullBackend {
  readonly kind: 'redis' | 'postgres';
  queue(name: string, defaults: JobsOptions): BullQueue;
  worker(name: string, run: Processor, settings: BullWorkerSettings): BullWorker;
  /** After all its queues and workers are closed. */
  close(): Promise<void>;
}

/** In braces, so that all keys of a queue share a slot of a Redis Cluster. */
const PREFIX = '{offhook}';

/**
 * @param url `redis://`, `rediss://`, or another form of `parseRedisAddress`
 * @param onProblem hears of lost connections; BullMQ reconnects by itself
 * @throws RedisAddressError
 */
export function redisBackend(url: string, clock: Clock, onProblem: (error: Error) => void): BullBackend {
  const bull = withBackend(patient(createRedisBackend, clock));
  const address = parseRedisAddress(url);
  const connections: (Redis | Cluster)[] = [];
  const connect = (patience: { enableOfflineQueue: boolean; maxRetriesPerRequest: number | null }): Redis | Cluster => {
    const connection = connectRedis(address, patience);
    connection.on('error', onProblem);
    connections.push(connection);
    return connection;
  };
  // Adding fails at once while Redis is unavailable, and the outbox retries; working waits for it.
  let adding: Redis | Cluster | undefined;
  let working: Redis | Cluster | undefined;
  return {
    kind: 'redis',
    queue(name, defaults) {
      adding ??= connect({ enableOfflineQueue: false, maxRetriesPerRequest: 1 });
      const queue = new bull.Queue(name, { connection: adding, prefix: PREFIX, defaultJobOptions: defaults });
      queue.on('error', onProblem);
      return queue;
    },
    worker(name, run, settings) {
      working ??= connect({ enableOfflineQueue: true, maxRetriesPerRequest: null });
      const worker = new bull.Worker(name, run, { ...settings, connection: working, prefix: PREFIX });
      worker.on('error', onProblem);
      return worker;
    },
    async close() {
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** Most connections of a queue or worker; a worker adds one for listening. */
const MAX_CONNECTIONS = 3;

export function postgresBackend(database: Database, clock: Clock, onProblem: (error: Error) => void): BullBackend {
  const bull = withBackend(patient(createPostgresBackend, clock));
  const connection = { ...database.connection, schema: QUEUE_SCHEMA, max: MAX_CONNECTIONS };
  return {
    kind: 'postgres',
    queue(name, defaults) {
      const queue = new bull.Queue(name, { connection, defaultJobOptions: defaults });
      queue.on('error', onProblem);
      return queue;
    },
    worker(name, run, settings) {
      const worker = new bull.Worker(name, run, { ...settings, connection });
      worker.on('error', onProblem);
      return worker;
    },
    async close() {},
  };
}

/**
 * Encodes a job id for BullMQ, which splits keys at colons and refuses whole numbers. Injective.
 * @throws TypeError for an empty id, or one longer than 200 characters when encoded
 */
export function encodeJobId(id: string): string {
  const encoded = `j.${encodeURIComponent(id)}`;
  if (id === '' || encoded.length > 200) throw new TypeError('a job id has 1 to about 200 characters');
  return encoded;
}

/** Decodes such an id; other texts are returned unchanged. */
export function decodeJobId(encoded: string): string {
  return encoded.startsWith('j.') ? decodeURIComponent(encoded.slice(2)) : encoded;
}

/** Pause of a worker after a failed query for a job, in ms. */
const PAUSE_MS = 1_000;

/**
 * Slows the backend's failing queries for a job. BullMQ's worker (6.7.0) waits before a retry only after a refused connection; after other failures
 * (a database shutting down, a Redis still loading) it retries at once, and takes all processor time.
 */
function patient<Backend extends IQueueBackend, Connection>(
  create: BackendFactory<Backend, Connection>,
  clock: Clock,
): BackendFactory<Backend, Connection> {
  return (...given) => {
    const backend = create(...given);
    const ask = backend.moveToActive.bind(backend);
    backend.moveToActive = async (...asked) => {
      try {
        return await ask(...asked);
      } catch (error) {
        await sleep(clock, PAUSE_MS);
        throw error;
      }
    };
    return backend;
  };
}
