import { and, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { insertRows } from './query.ts';
import { calls, erasures, callKeys, tenantKeys } from './schema.ts';
import type { Session } from './tenancy.ts';
import { StoreUnavailableError, MasterKeyError } from '../errors.ts';
import { BlindIndex } from '../privacy/blind-index.ts';
import type { MasterKeys } from '../privacy/master-keys.ts';
import { sealJson, unsealJson } from '../privacy/seal.ts';
import type { ClientBase, Pool } from 'pg';

export type KeyKind = 'text' | 'audio';

/** The key of one call, in use. Not kept longer, as an erased key must not survive in memory. */
export class CallKey {
  /** 32 bytes, for values other than JSON. */
  readonly bytes: Buffer;
  readonly #owner: string;

  constructor(bytes: Buffer, tenantId: string, callId: string) {
    this.bytes = bytes;
    this.#owner = JSON.stringify([tenantId, callId]);
  }

  /** @param what names the value: it opens only under the same name */
  seal(what: string, value: unknown): Buffer {
    return sealJson(this.bytes, `${this.#owner}/${what}`, value);
  }

  /** @throws StoreKeyError */
  open(what: string, sealed: Uint8Array): unknown {
    return unsealJson(this.bytes, `${this.#owner}/${what}`, sealed);
  }
}

/** Makes, finds and forgets the keys of calls and tenants. */
export class CallKeys {
  readonly #owner: NodePgDatabase;
  readonly #masters: MasterKeys;
  readonly #indexes = new Map<string, BlindIndex>();

  constructor(owner: NodePgDatabase, masters: MasterKeys) {
    this.#owner = owner;
    this.#masters = masters;
  }

  /**
   * The call's key, created if missing, and locked until the transaction ends: an erasure waits for it, and later transactions find the erasure's
   * mark.
   */
  async obtain(session: Session, tenantId: string, callId: string, kind: KeyKind): Promise<CallKey> {
    const about = callKeyName(tenantId, callId, kind);
    // A key that a concurrent transaction makes or destroys is found, or missing, at the second try.
    for (let tries = 0; tries < 3; tries += 1) {
      const made = this.#masters.make(about);
      const inserted = await session
        .insert(callKeys)
        .values({ tenantId, callId, kind, wrapped: made.wrapped })
        .onConflictDoNothing()
        .returning({ kind: callKeys.kind });
      if (inserted.length > 0) return new CallKey(made.key, tenantId, callId);
      const [found] = await session
        .select({ wrapped: callKeys.wrapped })
        .from(callKeys)
        .where(and(eq(callKeys.tenantId, tenantId), eq(callKeys.callId, callId), eq(callKeys.kind, kind)))
        .for('share');
      if (found !== undefined) return this.open(tenantId, callId, kind, found.wrapped);
    }
    throw new StoreUnavailableError('the key of a call is made and destroyed at the same time', { facts: { callId } });
  }

  /**
   * Makes missing keys of calls, locked until the transaction ends.
   * @param callIds each once
   * @returns the new keys by call; calls that have or had a key are left out
   */
  async make(session: Session, tenantId: string, callIds: readonly string[], kind: KeyKind): Promise<Map<string, CallKey>> {
    const made = new Map(callIds.map((callId) => [callId, this.#masters.make(callKeyName(tenantId, callId, kind))]));
    const rows = Array.from(made, ([callId, { wrapped }]) => ({ tenantId, callId, kind, wrapped }));
    const inserted = await insertRows(session, callKeys, rows, sql`ON CONFLICT DO NOTHING RETURNING call_id`);
    const isNew = new Set(inserted.map((row) => row['call_id']));
    return new Map(
      [...made].filter(([callId]) => isNew.has(callId)).map(([callId, { key }]) => [callId, new CallKey(key, tenantId, callId)]),
    );
  }

  /** @returns undefined when the key was destroyed, or never made */
  async find(session: Session, tenantId: string, callId: string, kind: KeyKind): Promise<CallKey | undefined> {
    const [found] = await session
      .select({ wrapped: callKeys.wrapped })
      .from(callKeys)
      .where(and(eq(callKeys.tenantId, tenantId), eq(callKeys.callId, callId), eq(callKeys.kind, kind)));
    return found === undefined ? undefined : this.open(tenantId, callId, kind, found.wrapped);
  }

  async destroy(session: Session, tenantId: string, callId: string, kind: KeyKind): Promise<void> {
    await session
      .delete(callKeys)
      .where(and(eq(callKeys.tenantId, tenantId), eq(callKeys.callId, callId), eq(callKeys.kind, kind)));
  }

  /** @throws MasterKeyError when another master key sealed it */
  open(tenantId: string, callId: string, kind: KeyKind, wrapped: Uint8Array): CallKey {
    return new CallKey(this.#masters.unwrap(callKeyName(tenantId, callId, kind), wrapped), tenantId, callId);
  }

  /** Makes the key of a tenant's index if missing. @returns the new key, though a concurrent one may have been stored first */
  async makeTenantKey(tenantId: string): Promise<Uint8Array> {
    const { wrapped } = this.#masters.make(indexKeyName(tenantId));
    await this.#owner.insert(tenantKeys).values({ tenantId, wrapped }).onConflictDoNothing();
    return wrapped;
  }

  /**
   * Seals a value outside calls, such as a listed number, under the master key: it is erased with its own column.
   * @param entry names its row: it opens for the same row only
   */
  sealEntry(entry: readonly string[], value: unknown): Buffer {
    return this.#masters.wrap(JSON.stringify(entry), Buffer.from(JSON.stringify(value)));
  }

  /** @throws MasterKeyError when another master key sealed it */
  openEntry(entry: readonly string[], sealed: Uint8Array): unknown {
    return JSON.parse(this.#masters.unwrap(JSON.stringify(entry), sealed).toString('utf8'));
  }

  /** The tenant's blind index. Not inside a transaction: the embedded store has one at a time. */
  async index(tenantId: string): Promise<BlindIndex> {
    const known = this.#indexes.get(tenantId);
    if (known !== undefined) return known;
    const made = await this.makeTenantKey(tenantId);
    const [row] = await this.#owner.select().from(tenantKeys).where(eq(tenantKeys.tenantId, tenantId));
    const index = new BlindIndex(this.#masters.unwrap(indexKeyName(tenantId), row?.wrapped ?? made));
    this.#indexes.set(tenantId, index);
    return index;
  }
}

/** Name under which a call's key is sealed. */
function callKeyName(tenantId: string, callId: string, kind: KeyKind): string {
  return JSON.stringify(['call', tenantId, callId, kind]);
}

/** Name under which a tenant's index key is sealed. */
function indexKeyName(tenantId: string): string {
  return JSON.stringify(['index', tenantId]);
}

/** A column for lists: the wrapped text key of each row's call. A subquery, not a join, so that it only runs for the page's rows. */
export function wrappedTextKey(table: 'calls' | 'analyses' | 'attempts' | 'webhook_deliveries'): SQL<Buffer | null> {
  const id = sql.raw(table === 'calls' || table === 'attempts' ? `${table}.id` : `${table}.call_id`);
  // Written out: in a single-table query drizzle omits the table's name, and these names would refer to the inner table.
  return sql<Buffer | null>`(SELECT k.wrapped FROM offhook.call_keys k WHERE k.tenant_id = ${sql.raw(table)}.tenant_id AND k.call_id = ${id} AND k.kind = 'text')`;
}

/** Whether a call's words or sound were destroyed. Only certain while the call's key is locked: see `CallKeys.obtain`. */
export async function wasErased(session: Session, tenantId: string, callId: string, kind: KeyKind): Promise<boolean> {
  return (await erasedAmong(session, tenantId, [callId], kind)).size > 0;
}

/** The same for several calls. @returns the erased ones */
export async function erasedAmong(
  session: Session,
  tenantId: string,
  callIds: readonly string[],
  kind: KeyKind,
): Promise<ReadonlySet<string>> {
  const ids = [...callIds];
  const erasedAt = kind === 'text' ? calls.textErasedAtMs : calls.audioErasedAtMs;
  const marks = await session
    .select({ callId: erasures.callId })
    .from(erasures)
    .where(and(eq(erasures.tenantId, tenantId), inArray(erasures.callId, ids)))
    .unionAll(
      session
        .select({ callId: calls.id })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), inArray(calls.id, ids), isNotNull(erasedAt))),
    );
  return new Set(marks.map(({ callId }) => callId));
}

/** Runs plain SQL. */
export type Database = Pick<Pool | ClientBase, 'query'>;

interface TenantKey {
  readonly tenant_id: string;
  readonly wrapped: Buffer;
}

interface SampleKey extends TenantKey {
  readonly id: string;
  readonly kind: 'text' | 'audio';
}

/**
 * Unwraps the key of each tenant, which every store has from its first start on, so that a wrong or lost master key is found before calls are taken.
 * @param keys asked after the store: a process creating both makes the key first; undefined where there is none yet
 * @param source origin of the master key, in the operator's words
 * @throws MasterKeyError
 */
export async function openTenantKeys(database: Database, keys: () => MasterKeys | undefined, source: string): Promise<void> {
  const sealed = await allTenantKeys(database);
  const masters = keys();
  for (const { tenant_id: tenantId, wrapped } of sealed) {
    if (masters === undefined) {
      throw new MasterKeyError(
        `${source} is missing, and the store is sealed under it: put the file back, or give the key as OFFHOOK_MASTER_KEY`,
      );
    }
    try {
      masters.unwrap(indexKeyName(tenantId), wrapped);
    } catch (error) {
      if (!(error instanceof MasterKeyError)) throw error;
      throw new MasterKeyError(
        `the store is sealed under another master key than the one of ${source}: give back the key that it was sealed under (OFFHOOK_MASTER_KEY takes an older one behind the new one, with a comma between)`,
      );
    }
  }
}

/** Seals the tenants' keys under the first master key, so that older ones are only needed for older calls. */
export async function renewTenantKeys(database: Database, masters: MasterKeys): Promise<void> {
  for (const { tenant_id: tenantId, wrapped } of await allTenantKeys(database)) {
    if (masters.isOfFirst(wrapped)) continue;
    const about = indexKeyName(tenantId);
    await database.query('UPDATE offhook.tenant_keys SET wrapped = $3 WHERE tenant_id = $1 AND wrapped = $2', [
      tenantId,
      wrapped,
      masters.wrap(about, masters.unwrap(about, wrapped)),
    ]);
  }
}

/**
 * Finds unreadable calls by unwrapping the keys of the oldest and newest stored call.
 * @returns ids of calls sealed under a master key that is not among these
 */
export async function unreadableCalls(database: Database, masters: MasterKeys): Promise<readonly string[]> {
  if (!(await isMade(database))) return [];
  const sample = (order: 'ASC' | 'DESC'): string =>
    `(SELECT k.tenant_id, c.id, k.kind, k.wrapped FROM offhook.calls c JOIN offhook.call_keys k ON k.tenant_id = c.tenant_id AND k.call_id = c.id
      ORDER BY c.tenant_id ${order}, c.started_at_ms ${order} LIMIT 1)`;
  const { rows } = await database.query<SampleKey>(`${sample('ASC')} UNION ALL ${sample('DESC')}`);
  const lost = rows.filter(({ tenant_id: tenantId, id, kind, wrapped }) => {
    try {
      masters.unwrap(callKeyName(tenantId, id, kind), wrapped);
      return false;
    } catch (error) {
      if (error instanceof MasterKeyError) return true;
      throw error;
    }
  });
  return [...new Set(lost.map(({ id }) => id))];
}

async function allTenantKeys(database: Database): Promise<readonly TenantKey[]> {
  if (!(await isMade(database))) return [];
  return (await database.query<TenantKey>('SELECT tenant_id, wrapped FROM offhook.tenant_keys')).rows;
}

async function isMade(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ made: boolean }>("SELECT to_regclass('offhook.tenant_keys') IS NOT NULL AS made");
  return rows[0]?.made === true;
}
