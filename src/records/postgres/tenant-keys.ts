import type { ClientBase, Pool } from 'pg';
import { MasterKeyError } from '../errors.ts';
import { callKeyName, indexKeyName } from './call-keys.ts';
import type { MasterKeys } from '../privacy/master-keys.ts';

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
  const sealed = await tenantKeys(database);
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
  for (const { tenant_id: tenantId, wrapped } of await tenantKeys(database)) {
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

async function tenantKeys(database: Database): Promise<readonly TenantKey[]> {
  if (!(await isMade(database))) return [];
  return (await database.query<TenantKey>('SELECT tenant_id, wrapped FROM offhook.tenant_keys')).rows;
}

async function isMade(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ made: boolean }>("SELECT to_regclass('offhook.tenant_keys') IS NOT NULL AS made");
  return rows[0]?.made === true;
}
