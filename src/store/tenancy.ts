import { sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PgTransactionConfig } from 'drizzle-orm/pg-core';

/** A transaction, or the database itself. */
export type Session = Pick<NodePgDatabase, 'select' | 'insert' | 'update' | 'delete' | 'execute'>;

/** The role that sees one tenant's rows alone; the first migration that knows tenants makes it. */
const TENANT_ROLE = 'offhook_tenant';

/**
 * Runs queries for one tenant. On a server each runs in a transaction that has taken the tenants' role and named its tenant,
 * so that row-level security stands behind every `where`. The embedded store has one user who is no other than its owner,
 * and goes without.
 */
export class Tenancy {
  readonly #orm: NodePgDatabase;
  readonly #secured: boolean;

  private constructor(orm: NodePgDatabase, secured: boolean) {
    this.#orm = orm;
    this.#secured = secured;
  }

  /** @param onServer whether the database is one that others may use too */
  static async over(orm: NodePgDatabase, onServer: boolean, onProblem: (error: Error) => void): Promise<Tenancy> {
    if (!onServer) return new Tenancy(orm, false);
    const member = sql`SELECT 1 FROM pg_roles WHERE rolname = ${TENANT_ROLE} AND pg_has_role(current_user, oid, 'MEMBER')`;
    const secured = (await orm.execute(member)).rows.length > 0;
    if (!secured) onProblem(new Error(`row-level security is off: this user may not act as ${TENANT_ROLE}`));
    return new Tenancy(orm, secured);
  }

  /** Looks after all tenants: every query names its tenant itself, or means them all. */
  get owner(): NodePgDatabase {
    return this.#orm;
  }

  /** One query, or several that need not see the same moment. */
  async ask<Answer>(tenantId: string, run: (session: Session) => Promise<Answer>): Promise<Answer> {
    return this.#secured ? this.atOnce(tenantId, run) : run(this.#orm);
  }

  /** Queries that happen together or not at all. */
  async atOnce<Answer>(
    tenantId: string,
    run: (session: Session) => Promise<Answer>,
    config?: PgTransactionConfig,
  ): Promise<Answer> {
    return this.#orm.transaction(async (tx) => {
      if (this.#secured) {
        await tx.execute(sql`SELECT set_config('app.tenant', ${tenantId}, true), set_config('role', ${TENANT_ROLE}, true)`);
      }
      return run(tx);
    }, config);
  }
}
