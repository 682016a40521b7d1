import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { Redis } from 'ioredis';
import { masterKeyPath, readMasterKey } from '../../config/own-secrets.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Clock } from '../../kernel/clock.ts';
import { openDatabase } from '../../records/database.ts';
import { MasterKeys } from '../../records/privacy/master-keys.ts';
import { type Database, openTenantKeys, unreadableCalls } from '../../records/postgres/keys.ts';
import type { Check, CheckOutcome } from './check.ts';

const CONNECT_TIMEOUT_MS = 3_000;
/** The oldest Redis that BullMQ supports. */
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
      // The failing command reports it.
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
      // A broken connection is reported by the query that fails.
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

/** Checks that the master key opens the store's sealed data. Changes nothing on a server, and creates no embedded store. */
export function masterKeyCheck({ settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>, clock: Clock): Check {
  const { dataDir, store } = settings;
  const given = secrets.masterKeys;
  const source = given.length > 0 ? 'OFFHOOK_MASTER_KEY' : masterKeyPath(resolve(dataDir));
  const keys = (): MasterKeys | undefined => {
    const there = given.length > 0 ? given : [readMasterKey(dataDir)].filter((secret) => secret !== undefined);
    return there.length === 0 ? undefined : new MasterKeys(there);
  };
  const look = async (database: Database): Promise<CheckOutcome> => {
    await openTenantKeys(database, keys, source);
    const masters = keys();
    if (masters === undefined) return { ok: true, detail: `${source} is made at the first start` };
    const unreadable = await unreadableCalls(database, masters);
    return unreadable.length === 0
      ? { ok: true, detail: `${source} opens what the store holds` }
      : { ok: false, detail: `sealed under a master key that is not given: ${unreadable.join(', ')}, perhaps others` };
  };
  return {
    name: 'master key',
    advice: `give back the key that these calls were sealed under, in OFFHOOK_MASTER_KEY behind the new one; without it their words are lost`,
    async run() {
      const url = secrets.databaseUrl?.reveal();
      if (url === undefined) {
        if (!existsSync(join(dataDir, 'store'))) return { ok: true, detail: 'there is no store yet' };
        const onProblem = (): void => undefined;
        const options = { url, dataDir, masterKeys: given, clock, onProblem, waitMs: store.lockTimeoutMs, lasting: false };
        await using database = await openDatabase(options);
        return await look(database.pool);
      }
      const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
      // A broken connection is reported by the query that fails.
      client.on('error', () => undefined);
      try {
        await client.connect();
        return await look(client);
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  };
}
