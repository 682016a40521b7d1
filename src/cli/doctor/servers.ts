import { Redis } from 'ioredis';
import { Client } from 'pg';
import type { Check } from './check.ts';

const CONNECT_TIMEOUT_MS = 3_000;
/** What the job queue needs (BullMQ's own requirement). */
const LEAST_REDIS = 6.2;

export function redisCheck(url: string): Check {
  return {
    name: 'Redis',
    advice: 'start the server, or correct REDIS_URL; unset it to keep the queue in the store',
    async run() {
      const redis = new Redis(url, {
        lazyConnect: true,
        connectTimeout: CONNECT_TIMEOUT_MS,
        commandTimeout: CONNECT_TIMEOUT_MS,
        maxRetriesPerRequest: 0,
        retryStrategy: () => null,
      });
      // The command that fails tells it.
      redis.on('error', () => undefined);
      try {
        await redis.connect();
        const [info, memory] = [await redis.info('server'), await redis.info('memory')];
        const version = /redis_version:(\S+)/u.exec(info)?.[1] ?? 'unknown';
        const policy = /maxmemory_policy:(\S+)/u.exec(memory)?.[1] ?? 'unknown';
        const detail = `version ${version}, maxmemory-policy ${policy}`;
        if (Number.parseFloat(version) < LEAST_REDIS)
          return { ok: false, detail, advice: `the queue needs Redis ${LEAST_REDIS} or newer` };
        return policy === 'noeviction'
          ? { ok: true, detail }
          : { ok: false, detail, advice: 'set maxmemory-policy to noeviction, or a full Redis drops jobs' };
      } finally {
        redis.disconnect();
      }
    },
  };
}

export function postgresCheck(url: string): Check {
  return {
    name: 'Postgres',
    advice: 'start the server, or correct DATABASE_URL; unset it for the embedded store',
    async run() {
      const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
      // A connection that breaks off is told by the query that fails with it.
      client.on('error', () => undefined);
      try {
        await client.connect();
        const { rows } = await client.query<{ version: string; may: boolean }>(
          "select current_setting('server_version') as version, has_database_privilege(current_database(), 'CREATE') as may",
        );
        const detail = `version ${rows[0]?.version ?? 'unknown'}`;
        return rows[0]?.may === true
          ? { ok: true, detail }
          : { ok: false, detail, advice: 'give this user the right to create schemas and tables in the database' };
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  };
}
