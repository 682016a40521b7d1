import { join } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import { API_KEYS_FILE, type ApiKeyBook, ApiKeys, SharedApiKeys } from '../http/api/system/api-keys.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Store } from '../records/port.ts';
import { openRecords } from './records.ts';

/** The keys of the API: in a file of the data folder, or of several machines in their store. */
export function apiKeysOf(
  { settings }: Pick<LoadedConfig, 'settings'>,
  { apiKeys }: Pick<Store, 'apiKeys'>,
  clock: Clock,
): ApiKeyBook {
  const file = new ApiKeys(join(settings.dataDir, API_KEYS_FILE));
  return settings.cluster.address === undefined ? file : new SharedApiKeys(apiKeys, file, clock);
}

/** The same for a command, which opens the store only where it has to. @throws OffhookError */
export async function withApiKeys<Answer>(
  config: LoadedConfig,
  clock: Clock,
  logger: Logger,
  use: (keys: ApiKeyBook) => Promise<Answer>,
): Promise<Answer> {
  if (config.settings.cluster.address === undefined) return use(new ApiKeys(join(config.settings.dataDir, API_KEYS_FILE)));
  const records = await openRecords({ config, clock, logger, lasting: false });
  try {
    return await use(apiKeysOf(config, records.store, clock));
  } finally {
    await records.close();
  }
}
