import type { PgTransactionConfig } from 'drizzle-orm/pg-core';
import type { BlindIndex } from '../privacy/blind-index.ts';
import type { CallKeys } from './keys.ts';
import { type Session, type Tenancy, inStoreErrors } from './tenancy.ts';

/** A part of the store. Its queries fail with StoreUnavailableError (retryable) or, for their content, with StoreRecordError. */
export abstract class Repository {
  protected readonly tenancy: Tenancy;
  protected readonly keys: CallKeys;

  constructor(tenancy: Tenancy, keys: CallKeys) {
    this.tenancy = tenancy;
    this.keys = keys;
  }

  /** Runs one query of a tenant, or several that need no common snapshot. */
  protected ask<Answer>(tenantId: string, run: (session: Session) => Promise<Answer>): Promise<Answer> {
    return inStoreErrors(this.tenancy.ask(tenantId, run));
  }

  /** Runs a tenant's queries in one transaction. */
  protected atOnce<Answer>(
    tenantId: string,
    run: (session: Session) => Promise<Answer>,
    config?: PgTransactionConfig,
  ): Promise<Answer> {
    return inStoreErrors(this.tenancy.atOnce(tenantId, run, config));
  }

  /** The tenant's index of hashed words and numbers. Not inside a transaction: the embedded store has one at a time. */
  protected index(tenantId: string): Promise<BlindIndex> {
    return inStoreErrors(this.keys.index(tenantId));
  }
}
