import type { Database } from './database.ts';
import type { Store } from './port.ts';
import { PostgresAnalyses } from './postgres/analyses.ts';
import { PostgresCalls } from './postgres/calls.ts';
import { PostgresIdempotency } from './postgres/idempotency.ts';
import { PostgresPrivacy } from './postgres/privacy.ts';
import { PostgresRecordings } from './postgres/recordings.ts';
import { PostgresSubmissions } from './postgres/submissions.ts';
import { PostgresWebhooks } from './postgres/webhooks.ts';
import { CallKeys } from './postgres/call-keys.ts';

/** The store on a database. Closing it closes the database. */
export function storeOn(database: Database): Store {
  const { tenancy, masterKeys } = database;
  const keys = new CallKeys(tenancy.owner, masterKeys);
  return {
    calls: new PostgresCalls(tenancy, keys),
    recordings: new PostgresRecordings(tenancy),
    analyses: new PostgresAnalyses(tenancy, keys),
    privacy: new PostgresPrivacy(tenancy, keys),
    webhooks: new PostgresWebhooks(tenancy, keys),
    submissions: new PostgresSubmissions(tenancy, keys),
    idempotency: new PostgresIdempotency(tenancy),
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
