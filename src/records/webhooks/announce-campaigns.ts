import { z } from 'zod';
import type { CampaignRepository, StoredCampaign } from '../campaigns.ts';
import type { WebhookDispatcher } from './webhook-dispatcher.ts';
import { campaignChanged, type CampaignNews } from './webhook-event.ts';

interface AnnounceParts {
  readonly campaigns: Pick<CampaignRepository, 'unannounced' | 'announced' | 'counts'>;
  readonly dispatcher: Pick<WebhookDispatcher, 'announce'>;
}

const BATCH = 100;
const settingsWithBot = z.looseObject({ bot: z.string() });

/**
 * Announces every campaign whose state has changed; of rapid changes the last.
 * @throws StoreUnavailableError, QueueUnavailableError (retryable): the sweep will announce it
 */
export async function announceCampaigns({ campaigns, dispatcher }: AnnounceParts): Promise<void> {
  for (const campaign of await campaigns.unannounced(BATCH)) {
    const { tenantId, id, name, reason, changedAtMs: atMs, settings } = campaign;
    const ref = { tenantId, campaignId: id };
    const change = changeOf(campaign);
    if (change !== undefined) {
      const { states } = await campaigns.counts(ref);
      const { bot: botName } = settingsWithBot.parse(settings);
      await dispatcher.announce(campaignChanged({ ...ref, name, botName, change, atMs, reason, contacts: states }));
    }
    await campaigns.announced(ref, atMs);
  }
}

function changeOf({ state, startedAtMs, changedAtMs }: StoredCampaign): CampaignNews['change'] | undefined {
  if (state === 'draft') return undefined;
  if (state !== 'running') return state;
  return startedAtMs === changedAtMs ? 'started' : 'resumed';
}
