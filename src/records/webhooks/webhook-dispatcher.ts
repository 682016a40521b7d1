import type { WebhookEndpoint, WebhookEventType } from '../../config/webhook-endpoints.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../port.ts';
import { WEBHOOKS, type JobQueue } from '../queue/port.ts';
import { type WebhookEvent, bodyFor, deliveryId, campaignChanged, type CampaignNews } from './webhook-event.ts';
import { z } from 'zod';
import type { CampaignRepository, StoredCampaign } from '../campaigns.ts';

/** Whether any of these endpoints asked for such events. */
export function isWanted(endpoints: readonly WebhookEndpoint[], type: WebhookEventType, tenantId: string): boolean {
  return endpoints.some((endpoint) => endpoint.tenantId === tenantId && endpoint.events.includes(type));
}

/** Fans events out: one delivery for each endpoint that asked for them, kept in the store and queued. */
export class WebhookDispatcher {
  readonly #book: { readonly all: readonly WebhookEndpoint[] };
  readonly #store: Pick<Store, 'webhooks'>;
  readonly #queue: Pick<JobQueue, 'enqueue'>;
  readonly #clock: Clock;

  constructor(parts: {
    /** Fixed ones, or a book to which some are added. */
    readonly endpoints: readonly WebhookEndpoint[] | { readonly all: readonly WebhookEndpoint[] };
    readonly store: Pick<Store, 'webhooks'>;
    readonly queue: Pick<JobQueue, 'enqueue'>;
    readonly clock: Clock;
  }) {
    const { endpoints } = parts;
    this.#book = 'all' in endpoints ? endpoints : { all: endpoints };
    this.#store = parts.store;
    this.#queue = parts.queue;
    this.#clock = parts.clock;
  }

  /** Whether any endpoint wants these events. */
  isWanted(type: WebhookEventType, tenantId: string): boolean {
    return isWanted(this.#book.all, type, tenantId);
  }

  /**
   * Will be delivered at least once when this returns. The same event again changes nothing.
   * @throws StoreUnavailableError, QueueUnavailableError (retryable): ask again
   */
  async announce(event: WebhookEvent): Promise<void> {
    const { tenantId, callId, type } = event;
    for (const endpoint of this.#wanting(type, tenantId)) {
      const id = deliveryId(event, endpoint.name);
      const body = bodyFor(event, endpoint);
      const delivery = { tenantId, id, callId, endpoint: endpoint.name, type, body, createdAtMs: this.#clock.wallMs() };
      if (await this.#store.webhooks.add(delivery)) await this.queue(tenantId, id);
    }
  }

  /** Queues a delivery that the store holds; one that is queued already stays as it is. */
  async queue(tenantId: string, id: string): Promise<void> {
    await this.#queue.enqueue(WEBHOOKS, `${tenantId}:${id}`, { tenantId, id });
  }

  /** Sends a delivery again under the same `webhook-id`, delivered or not. @returns false for an unknown one */
  async replay(tenantId: string, id: string): Promise<boolean> {
    const atMs = this.#clock.wallMs();
    if (!(await this.#store.webhooks.replay(tenantId, id, atMs))) return false;
    await this.#queue.enqueue(WEBHOOKS, `${tenantId}:${id}:${atMs}`, { tenantId, id });
    return true;
  }

  endpoint(tenantId: string, name: string): WebhookEndpoint | undefined {
    return this.#book.all.find((endpoint) => endpoint.name === name && endpoint.tenantId === tenantId);
  }

  #wanting(type: WebhookEventType, tenantId: string): WebhookEndpoint[] {
    return this.#book.all.filter((endpoint) => endpoint.tenantId === tenantId && endpoint.events.includes(type));
  }
}

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
