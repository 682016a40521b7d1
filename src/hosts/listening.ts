import { OrderRefusedError } from '../call/control/supervision.ts';
import { listeningCarriers, type OpenCarriers } from '../carriers/open-carriers.ts';
import { type Bot, botsOfTenant } from '../config/bots.ts';
import { tenantOfAccount } from '../config/tenant-id.ts';
import type { LiveCallOrders } from '../http/api/api-app.ts';
import type { StreamAddresses } from '../http/stream-addresses.ts';

/** What the API needs to have calls between people listened to. */
export function listeningOrders(
  carriers: OpenCarriers,
  bots: () => readonly Bot[],
  streams: Pick<StreamAddresses, 'forListening'>,
): LiveCallOrders['listening'] {
  return {
    carriers: (tenantId) => listeningCarriers(carriers).filter((name) => (tenantOfAccount(name) ?? tenantId) === tenantId),
    bots: (tenantId) => botsOfTenant(bots(), tenantId).map(({ name }) => name),
    addressFor: (grant, lifeMs) => streams.forListening(grant, lifeMs),
    async begin(name, carrierCallId, streamUrl) {
      const { control, carrier: { title = name, controlEnvName = '' } = {} } = carriers.get(name) ?? {};
      if (control === undefined) throw new OrderRefusedError(`No account of ${title} is configured (${controlEnvName}).`);
      if (control.fork === undefined)
        throw new OrderRefusedError(`${title} begins a copy of a call by that call's own document: leave out the call.`);
      await control.fork(carrierCallId, streamUrl, new AbortController().signal);
    },
  };
}
