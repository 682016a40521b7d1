import { missingForDuties } from '../call/control/duties.ts';
import { CampaignControl } from '../outbound/campaign-control.ts';
import type { Duty } from '../outbound/gate/profile.ts';
import { NumberZones } from '../outbound/number.ts';
import { DiallingProfiles } from '../outbound/profiles.ts';
import { diallingCarriers } from '../carriers/open-carriers.ts';
import { type Bot, botsOfTenant } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import { placingMeans } from '../config/tenants.ts';
import { announceCampaigns } from '../records/webhooks/webhook-dispatcher.ts';
import type { Clock } from '../kernel/clock.ts';
import { OffhookError } from '../kernel/errors.ts';
import type { Records } from './records.ts';

/**
 * Campaigns over the store, for the gateway's API and for commands.
 * @param options.bots those of now
 * @throws DiallingProfileError
 */
export async function openCampaignControl(options: {
  readonly records: Pick<Records, 'store' | 'dispatcher' | 'eraser'>;
  readonly config: Pick<LoadedConfig, 'settings' | 'carriers'> & Partial<Pick<LoadedConfig, 'tenants'>>;
  readonly bots: () => readonly Bot[];
  readonly clock: Clock;
}): Promise<CampaignControl> {
  const { records, config, bots, clock } = options;
  const { store, eraser } = records;
  const { dialling } = config.settings;
  const { folder } = dialling;
  const placing = placingMeans(config.settings, config.tenants ?? [], diallingCarriers(config.carriers));
  const profiles = await DiallingProfiles.load(folder);
  const means = {
    profiles,
    missingFor: (name: string, duties: readonly Duty[]) => {
      const bot = bots().find((each) => each.name === name);
      return bot === undefined ? [] : missingForDuties(bot, dialling, duties);
    },
  };
  let zones: NumberZones | undefined;
  return new CampaignControl({
    campaigns: store.campaigns,
    contacts: store.contacts,
    attempts: store.attempts,
    suppressions: store.suppressions,
    means: (tenantId) => ({ ...means, ...placing(tenantId), bots: botsOfTenant(bots(), tenantId).map(({ name }) => name) }),
    zones: () => (zones ??= NumberZones.load()),
    announce: () => tellChanges(records),
    eraseCall: (tenantId, callId) => eraser.eraseCall(tenantId, callId),
    clock,
  });
}

/** Tells endpoints of campaigns whose state has changed; what cannot be told now the sweep tells. */
export async function tellChanges({ store, dispatcher }: Pick<Records, 'store' | 'dispatcher'>): Promise<void> {
  try {
    await announceCampaigns({ campaigns: store.campaigns, dispatcher });
  } catch (error) {
    if (!(error instanceof OffhookError && error.retryable)) throw error;
  }
}
