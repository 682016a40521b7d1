import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { ApiKeyRepository, Store, StoredApiKey } from './port.ts';
import { PostgresAnalyses } from './postgres/analyses.ts';
import { PostgresAttempts } from './postgres/attempts.ts';
import { PostgresCalls } from './postgres/calls.ts';
import { PostgresCampaigns } from './postgres/campaigns.ts';
import { PostgresConsents, PostgresSuppressions } from './postgres/dial-lists.ts';
import { PostgresContacts } from './postgres/contacts.ts';
import { PostgresPrivacy } from './postgres/privacy.ts';
import { PostgresRecordings } from './postgres/recordings.ts';
import { PostgresMembers } from './postgres/members.ts';
import { PostgresReviews } from './postgres/reviews.ts';
import { PostgresStatistics } from './postgres/statistics.ts';
import { PostgresSubmissions } from './postgres/submissions.ts';
import { PostgresWebhooks } from './postgres/webhooks.ts';
import { CallKeys, openTenantKeys, renewTenantKeys } from './postgres/keys.ts';
import { ensureMasterKey, masterKeyPath, readMasterKey } from '../config/own-secrets.ts';
import type { Secret } from '../config/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';
import { MasterKeyError, StoreKeyError, StoreUnavailableError } from './errors.ts';
import { openEmbedded } from './embedded/open.ts';
import { type DatabaseConnection, impatientClient, migrateDatabase, openPool } from './postgres/connection.ts';
import { MasterKeys } from './privacy/master-keys.ts';
import { inStoreErrors, Tenancy } from './postgres/tenancy.ts';
import { and, asc, eq, isNull, lt, or, type SQL } from 'drizzle-orm';
import { apiKeys, idempotencyKeys as keys } from './postgres/schema.ts';
import { Repository } from './postgres/repository.ts';
import type { IdempotencyRepository, KeptAnswer, KeyClaim } from './idempotency.ts';

class PostgresIdempotency extends Repository implements IdempotencyRepository {
  async claim(tenantId: string, key: string, request: Parameters<IdempotencyRepository['claim']>[2]): Promise<KeyClaim> {
    const { callId = null, fingerprint, forgetBeforeMs, abandonedBeforeMs } = request;
    const fresh = { callId, fingerprint, createdAtMs: Math.round(request.atMs), status: null, location: null, answer: null };
    const isOver = or(
      lt(keys.createdAtMs, forgetBeforeMs),
      and(isNull(keys.status), lt(keys.createdAtMs, abandonedBeforeMs), eq(keys.fingerprint, fingerprint)),
    );
    return this.ask(tenantId, async (session) => {
      // One statement, so that only one of two concurrent requests succeeds.
      const ours = await session
        .insert(keys)
        .values({ tenantId, key, ...fresh })
        .onConflictDoUpdate({ target: [keys.tenantId, keys.key], set: fresh, ...(isOver && { setWhere: isOver }) })
        .returning({ key: keys.key });
      if (ours.length > 0) return { kind: 'ours' };
      const [known] = await session.select().from(keys).where(isKey(tenantId, key));
      if (known === undefined) return { kind: 'busy' };
      if (known.fingerprint !== fingerprint) return { kind: 'taken' };
      if (known.status === null) return { kind: 'busy' };
      return {
        kind: 'answered',
        kept: { status: known.status, location: known.location ?? undefined, answer: known.answer },
      };
    });
  }

  async keep(tenantId: string, key: string, { status, location, answer }: KeptAnswer): Promise<void> {
    await this.ask(tenantId, (session) => session.update(keys).set({ status, location, answer }).where(isKey(tenantId, key)));
  }

  async release(tenantId: string, key: string): Promise<void> {
    await this.ask(tenantId, (session) => session.delete(keys).where(and(isKey(tenantId, key), isNull(keys.status))));
  }

  async forget(beforeMs: number): Promise<void> {
    await inStoreErrors(this.tenancy.owner.delete(keys).where(lt(keys.createdAtMs, beforeMs)));
  }
}

function isKey(tenantId: string, key: string): SQL | undefined {
  return and(eq(keys.tenantId, tenantId), eq(keys.key, key));
}

class PostgresApiKeys extends Repository implements ApiKeyRepository {
  list(): Promise<readonly StoredApiKey[]> {
    const { owner } = this.tenancy;
    return inStoreErrors(owner.select().from(apiKeys).orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id)).execute());
  }

  async insert(keys: readonly StoredApiKey[]): Promise<void> {
    const rows = keys.map((key) => ({ ...key, scopes: [...key.scopes], createdAtMs: Math.round(key.createdAtMs) }));
    await inStoreErrors(this.tenancy.owner.insert(apiKeys).values(rows).onConflictDoNothing().execute());
  }

  async remove(id: string): Promise<boolean> {
    const gone = this.tenancy.owner.delete(apiKeys).where(eq(apiKeys.id, id)).returning({ id: apiKeys.id });
    return (await inStoreErrors(gone.execute())).length > 0;
  }
}

export interface DatabaseOptions {
  /** A PostgreSQL server (`DATABASE_URL`); undefined for the embedded store. */
  readonly url: string | undefined;
  /** `OFFHOOK_DATA_DIR`, where the embedded store lives. */
  readonly dataDir: string;
  /** Keys that the keys of calls are sealed under; empty or absent for the data folder's own, made at the first start. */
  readonly masterKeys?: readonly Secret[];
  readonly clock: Clock;
  /** Hears of connections lost between queries; nothing needs to be done about them. */
  readonly onProblem: (error: Error) => void;
  /** What to do when another process owns the embedded store: use it through its socket, or stop. `join` when absent. */
  readonly whenBusy?: 'join' | 'stop';
  /** How long to wait for an owner that is still starting or soon ends, in ms; 30,000 when absent. */
  readonly waitMs?: number;
  /** Whether this process means to keep the embedded store, as a command does not: others join it then; true when absent. */
  readonly lasting?: boolean;
  /** A server that says nothing to a query for so long is taken for lost, in ms; 60,000 when absent. */
  readonly silenceMs?: number;
}

/** PostgreSQL, wherever it runs: in a thread of this process, behind another process's socket, or on a server. */
export interface Database extends AsyncDisposable {
  readonly place: 'embedded' | 'peer' | 'server';
  readonly pool: Pool;
  readonly tenancy: Tenancy;
  readonly masterKeys: MasterKeys;
  /** Connection settings, for components with connections of their own, such as the job queue. */
  readonly connection: DatabaseConnection;
  close(): Promise<void>;
}

/** Retention and the search of many calls take seconds. */
const SILENCE_MS = 60_000;
const END_MS = 5_000;
/** The tenant of all calls that name no other. */
const DEFAULT_TENANT = 'default';

/**
 * Opens the database and brings its tables up to date.
 * @throws StoreKeyError when a master key is not one
 * @throws MasterKeyError when the store is sealed under another one, or the key was lost
 * @throws StoreBusyError when another process owns the embedded store and `whenBusy` is `stop`, or it cannot be reached in time
 * @throws StoreUnavailableError when the server or the data directory cannot be opened
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { masterKeys: given = [], dataDir } = options;
  const readKeys = (): MasterKeys | undefined =>
    masterKeysOf(dataDir, () => (given.length > 0 ? given : [readMasterKey(dataDir)]));
  // First, so that a malformed key is reported while nothing is open.
  let there = readKeys();
  const parts =
    options.url === undefined
      ? await openEmbedded({ ...options, dataDir: resolve(options.dataDir) })
      : await openServer(options, options.url);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= parts.close());
  try {
    const tenancy = await Tenancy.over(parts.pool, parts.place === 'server', options.onProblem);
    const source = given.length > 0 ? 'OFFHOOK_MASTER_KEY' : masterKeyPath(resolve(dataDir));
    if (there === undefined) await openTenantKeys(parts.pool, readKeys, source);
    // Made meanwhile, as by another command that was started at the same time.
    there ??= readKeys();
    const masterKeys = there ?? masterKeysOf(dataDir, () => [ensureMasterKey(dataDir)]);
    if (masterKeys === undefined) throw new TypeError('a master key was made');
    // Made now, so that a process with another master key does not start, though no call was kept yet.
    await new CallKeys(tenancy.owner, masterKeys).makeTenantKey(DEFAULT_TENANT);
    await openTenantKeys(parts.pool, () => masterKeys, source);
    await renewTenantKeys(parts.pool, masterKeys);
    return { ...parts, tenancy, masterKeys, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    if (error instanceof StoreKeyError || error instanceof MasterKeyError) throw error;
    throw new StoreUnavailableError('the database cannot be used', { cause: error });
  }
}

async function openServer(
  options: DatabaseOptions,
  url: string,
): Promise<Pick<Database, 'place' | 'pool' | 'connection' | 'close'>> {
  const { onProblem, silenceMs = SILENCE_MS } = options;
  const reached = { connectionString: url, connectionTimeoutMillis: 10_000, keepAlive: true } as const;
  // A change of the tables takes its time, and so does waiting for another process that makes it.
  const migrating = openPool({ ...reached, max: 1 }, onProblem);
  try {
    await migrateDatabase(migrating);
  } catch (error) {
    throw new StoreUnavailableError('the database cannot be used', { cause: error });
  } finally {
    await migrating.end();
  }
  const connection: DatabaseConnection = { ...reached, Client: impatientClient(silenceMs) };
  const pool = openPool({ ...connection, max: 10 }, onProblem);
  return { place: 'server', pool, connection, close: () => endPool(pool, options.clock) };
}

/** Waits for queries under way, but not for a server that does not answer: its connections go with the process, or its silence. */
function endPool(pool: Pool, clock: Clock): Promise<void> {
  return within(clock, END_MS, pool.end(), undefined);
}

/** @returns undefined where there is no master key yet */
function masterKeysOf(dataDir: string, read: () => readonly (Secret | undefined)[]): MasterKeys | undefined {
  try {
    const secrets = read().filter((secret) => secret !== undefined);
    return secrets.length === 0 ? undefined : new MasterKeys(secrets);
  } catch (error) {
    if (error instanceof StoreKeyError) throw error;
    throw new StoreUnavailableError('the master key cannot be read or made', { cause: error, facts: { dataDir } });
  }
}

/** The store on a database. Closing it closes the database. */
export function storeOn(database: Database): Store {
  const { tenancy, masterKeys } = database;
  const keys = new CallKeys(tenancy.owner, masterKeys);
  return {
    calls: new PostgresCalls(tenancy, keys),
    recordings: new PostgresRecordings(tenancy, keys),
    analyses: new PostgresAnalyses(tenancy, keys),
    privacy: new PostgresPrivacy(tenancy, keys),
    webhooks: new PostgresWebhooks(tenancy, keys),
    submissions: new PostgresSubmissions(tenancy, keys),
    idempotency: new PostgresIdempotency(tenancy, keys),
    campaigns: new PostgresCampaigns(tenancy, keys),
    contacts: new PostgresContacts(tenancy, keys),
    suppressions: new PostgresSuppressions(tenancy, keys),
    consents: new PostgresConsents(tenancy, keys),
    attempts: new PostgresAttempts(tenancy, keys),
    statistics: new PostgresStatistics(tenancy, keys),
    reviews: new PostgresReviews(tenancy, keys),
    apiKeys: new PostgresApiKeys(tenancy, keys),
    members: new PostgresMembers(tenancy, keys),
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
