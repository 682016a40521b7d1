import type { LoadedConfig } from '../config/load.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { SharedState } from '../shared-state/port.ts';
import type { SlotLender } from '../speech/client/slot-lease.ts';
import { MasterKeys } from '../store/privacy/master-keys.ts';

/** Before all keys in Redis, as `{offhook:gateway}`. */
const NAMESPACE = 'gateway';

/**
 * What this machine shares with the others of its gateway, in Redis.
 * @returns undefined where `cluster.address` is not set: it is the only one
 * @throws RedisAddressError; SharedStateUnavailableError when Redis does not answer
 */
export async function openSharedState(
  { settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>,
  clock: Clock,
  logger: Logger,
): Promise<SharedState | undefined> {
  const { address } = settings.cluster;
  const url = secrets.redisUrl?.reveal();
  if (address === undefined || url === undefined) return undefined;
  const sealing = secrets.masterKeys.length === 0 ? undefined : new MasterKeys(secrets.masterKeys);
  // Loaded where it is wanted alone: it loads a Redis client.
  const { openRedisSharedState } = await import('../shared-state/redis.ts');
  return openRedisSharedState({ url, namespace: NAMESPACE, address, sealing, clock, logger });
}

/** Speech slots of all machines. */
export function slotLender({ slots, members }: Pick<SharedState, 'slots' | 'members'>): SlotLender {
  return {
    take: (...asked) => slots.take(...asked),
    give: (...given) => slots.give(...given),
    held: (name) => slots.held(name),
    members: async () => (await members.list()).length,
  };
}
