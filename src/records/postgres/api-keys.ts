import { asc, eq } from 'drizzle-orm';
import type { ApiKeyRepository, StoredApiKey } from '../port.ts';
import { apiKeys } from './schema.ts';
import { Repository } from './repository.ts';
import { inStoreErrors } from './tenancy.ts';

export class PostgresApiKeys extends Repository implements ApiKeyRepository {
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
