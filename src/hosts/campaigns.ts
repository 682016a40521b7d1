import { z } from 'zod';
import { missingForDuties } from '../call/control/duties.ts';
import { diallingCarriers } from '../carriers/open-carriers.ts';
import { type Bot, botsOfTenant } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type PlacingMeans, placingMeans, wantedAccount } from '../config/tenants.ts';
import type { Clock } from '../kernel/clock.ts';
import { OffhookError } from '../kernel/errors.ts';
import type { Logger } from '../observability/logger.ts';
import { CampaignControl } from '../outbound/campaign-control.ts';
import { CampaignRunner } from '../outbound/campaign-runner.ts';
import type { CallDialler } from '../outbound/dialler.ts';
import type { Duty } from '../outbound/gate/profile.ts';
import { NumberZones } from '../outbound/number.ts';
import { DiallingProfiles } from '../outbound/profiles.ts';
import { DialNoRoomError } from '../records/errors.ts';
import { DIALS } from '../records/queue/port.ts';
import { announceCampaigns } from '../records/webhooks/webhook-dispatcher.ts';
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
async function tellChanges({ store, dispatcher }: Pick<Records, 'store' | 'dispatcher'>): Promise<void> {
  try {
    await announceCampaigns({ campaigns: store.campaigns, dispatcher });
  } catch (error) {
    if (!(error instanceof OffhookError && error.retryable)) throw error;
  }
}

export interface RunCampaignsOptions {
  readonly settings: Pick<LoadedConfig['settings'], 'dialling'>;
  readonly records: Pick<Records, 'store' | 'queue' | 'dispatcher'>;
  readonly dialler: CallDialler;
  readonly profiles: DiallingProfiles;
  readonly zones: NumberZones;
  /** What a tenant's calls are placed by. */
  readonly means: (tenantId: string) => PlacingMeans;
  /** Calls that could be placed now. */
  readonly room: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Dials at once: most of them wait for their moment, or for the carrier's answer. */
const AT_ONCE = 200;

const dueDial = z.object({
  tenantId: z.string().min(1),
  campaignId: z.string().min(1),
  attemptId: z.string().min(1),
  startAtMs: z.number(),
});

/** Runs campaigns in this process, and places what any process of the gateway has the gate's yes for, until it is disposed of. */
export function runCampaigns(options: RunCampaignsOptions): AsyncDisposable {
  const { settings, records, dialler, profiles, zones, means, room, clock, logger } = options;
  const { store, queue } = records;
  const { callsPerSecond, concurrency, callerIdCallsPerSecond, callerIdConcurrency } = settings.dialling;
  const runner = new CampaignRunner({
    campaigns: store.campaigns,
    contacts: store.contacts,
    attempts: store.attempts,
    zones,
    dialler,
    profiles,
    room,
    carrierOf({ tenantId, settings: { carrier } }, from) {
      const own = means(tenantId);
      return wantedAccount(own, { tenantId, carrier, from }) ?? own.carriers[0];
    },
    limitOfCarrier: () => ({ callsPerSecond, concurrency }),
    limitOfLine: { callsPerSecond: callerIdCallsPerSecond, concurrency: callerIdConcurrency },
    enqueue: (dials) =>
      queue.enqueueMany(
        DIALS,
        dials.map((dial) => ({ id: dial.attemptId, payload: { ...dial } })),
      ),
    changed: () => tellChanges(records),
    clock,
    logger,
  });
  dialler.onEnded((attempt) => void runner.ended(attempt));
  const work = queue.work(
    DIALS,
    async ({ payload }) => {
      const dial = dueDial.parse(payload);
      const placed = await runner.place(dial);
      if (placed === 'no-room') throw new DialNoRoomError('no room for a call now', { facts: { callId: dial.attemptId } });
    },
    { concurrency: AT_ONCE },
  );
  runner.start();
  return {
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]();
      await work.stop();
    },
  };
}
