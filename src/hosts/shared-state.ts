import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import { hasCode } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { CallStates, CallStatesOptions, StateSealing } from './shared-state/call-states.ts';
import { seal, unseal } from '../records/privacy/seal.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { SharedState } from './shared-state/port.ts';
import type { SlotLender } from '../speech/client/slot-lease.ts';
import { MasterKeys } from '../records/privacy/master-keys.ts';

const STATES = 'states of calls';

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
  const { openRedisSharedState } = await import('./shared-state/redis.ts');
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

/**
 * The live calls of this machine, for the other ones.
 * @returns undefined where it is the only one
 * @throws as `openSharedState`
 */
export async function openCallStates(
  { settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>,
  memberId: string | undefined,
  { kept, clock, logger }: Pick<CallStatesOptions, 'kept' | 'clock' | 'logger'>,
): Promise<CallStates | undefined> {
  const { address: machine } = settings.cluster;
  const url = secrets.redisUrl?.reveal();
  if (machine === undefined || url === undefined || memberId === undefined) return undefined;
  const sealing = secrets.masterKeys.length === 0 ? undefined : stateSealing(new MasterKeys(secrets.masterKeys));
  const { openRedisCallStates } = await import('./shared-state/call-states.ts');
  const folder = folderId(join(settings.dataDir, 'calls'));
  return openRedisCallStates({ url, namespace: NAMESPACE, memberId, folder, machine, sealing, kept, clock, logger });
}

/** Which machine keeps the state of a live call, by its address; for `ClusterCalls`. */
export function keptAt(states: CallStates | undefined) {
  return async (callId: string): Promise<string | undefined> => {
    const found = await states?.find(callId);
    return typeof found === 'object' && found.record !== undefined ? found.machine : undefined;
  };
}

/** What tells this data folder from those of the other machines. */
function folderId(calls: string): string {
  mkdirSync(calls, { recursive: true, mode: 0o700 });
  const path = join(calls, 'folder-id');
  try {
    writeFileSync(path, newId('dir'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return readFileSync(path, 'utf8');
}

/** Under a key of this process, which is sealed under the master key beside each text. */
export function stateSealing(masters: MasterKeys): StateSealing {
  const { key, wrapped } = masters.make(STATES);
  return {
    seal: (about, plain) => Buffer.concat([wrapped, seal(key, about, plain)]),
    open: (about, sealed) =>
      unseal(masters.unwrap(STATES, sealed.subarray(0, wrapped.length)), about, sealed.subarray(wrapped.length)),
  };
}
