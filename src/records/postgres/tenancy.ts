import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PgTransactionConfig } from 'drizzle-orm/pg-core';
import type { Pool } from 'pg';
import { OffhookError } from '../../kernel/errors.ts';
import { StoreRecordError, StoreUnavailableError } from '../errors.ts';

/** A transaction, or the database itself. */
export type Session = Pick<NodePgDatabase, 'select' | 'insert' | 'update' | 'delete' | 'execute'>;

/** The role limited to one tenant's rows; made by a migration. */
const TENANT_ROLE = 'offhook_tenant';

/**
 * Runs queries for one tenant. On a server each runs in a transaction with the tenants' role and the tenant's name, so that row-level security backs
 * every `where`. The embedded store has only its owner, and goes without.
 */
export class Tenancy {
  readonly #pool: Pool;
  readonly #orm: NodePgDatabase;
  readonly #secured: boolean;

  private constructor(pool: Pool, orm: NodePgDatabase, secured: boolean) {
    this.#pool = pool;
    this.#orm = orm;
    this.#secured = secured;
  }

  /** @param onServer whether other users may share the database */
  static async over(pool: Pool, onServer: boolean, onProblem: (error: Error) => void): Promise<Tenancy> {
    const orm = drizzle(pool);
    if (!onServer) return new Tenancy(pool, orm, false);
    const member = sql`SELECT 1 FROM pg_roles WHERE rolname = ${TENANT_ROLE} AND pg_has_role(current_user, oid, 'MEMBER')`;
    const secured = (await orm.execute(member)).rows.length > 0;
    if (!secured) onProblem(new Error(`row-level security is off: this user may not act as ${TENANT_ROLE}`));
    return new Tenancy(pool, orm, secured);
  }

  /** Unrestricted access: every query names its tenant, or means all. */
  get owner(): NodePgDatabase {
    return this.#orm;
  }

  /** Runs one query, or several that need no common snapshot. */
  async ask<Answer>(tenantId: string, run: (session: Session) => Promise<Answer>): Promise<Answer> {
    return this.#secured ? this.atOnce(tenantId, run) : run(this.#orm);
  }

  /** Runs queries in one transaction. */
  atOnce<Answer>(tenantId: string, run: (session: Session) => Promise<Answer>, config?: PgTransactionConfig): Promise<Answer> {
    return this.#transaction(async (tx) => {
      if (this.#secured) {
        await tx.execute(sql`SELECT set_config('app.tenant', ${tenantId}, true), set_config('role', ${TENANT_ROLE}, true)`);
      }
      return run(tx);
    }, config);
  }

  /** The same for queries across tenants. */
  atOnceForAll<Answer>(run: (session: Session) => Promise<Answer>): Promise<Answer> {
    return this.#transaction(run);
  }

  async #transaction<Answer>(run: (session: Session) => Promise<Answer>, config?: PgTransactionConfig): Promise<Answer> {
    // drizzle (0.45.4) never returns a connection to the pool after a failed BEGIN; enough of them empty the pool.
    const client = await this.#pool.connect();
    let failed = true;
    try {
      const answer = await drizzle(client).transaction(run, config);
      failed = false;
      return answer;
    } finally {
      // After a failure the connection's state is unknown, and it may be lost.
      client.release(failed);
    }
  }
}

/** SQLSTATE class 23 is a violated constraint, 22 a value the column cannot hold (PostgreSQL manual, appendix A). */
const REFUSED = /^(22|23)/;

/** Maps query errors: refused for their content, or temporarily impossible. */
export async function inStoreErrors<Value>(query: Promise<Value>): Promise<Value> {
  try {
    return await query;
  } catch (error) {
    if (error instanceof OffhookError) throw error;
    const state = sqlStateOf(error);
    if (state !== undefined && REFUSED.test(state)) {
      throw new StoreRecordError('the store refuses this record', { cause: error, facts: { sqlState: state } });
    }
    throw new StoreUnavailableError('the store could not do this', { cause: error, facts: { sqlState: state } });
  }
}

/** drizzle wraps the driver's error in one of its own. */
function sqlStateOf(error: unknown): string | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if ('code' in inner && typeof inner.code === 'string') return inner.code;
  }
  return undefined;
}
