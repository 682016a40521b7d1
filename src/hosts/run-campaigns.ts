import { z } from 'zod';
import { CampaignRunner } from '../outbound/campaign-runner.ts';
import type { CallDialler } from '../outbound/dialler.ts';
import type { DiallingProfiles } from '../outbound/profiles.ts';
import type { NumberZones } from '../outbound/number.ts';
import type { Settings } from '../config/schema.ts';
import { type PlacingMeans, wantedAccount } from '../config/tenants.ts';
import { DialNoRoomError } from '../records/errors.ts';
import { DIALS } from '../records/queue/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { tellChanges } from './campaigns.ts';
import type { Records } from './records.ts';

export interface RunCampaignsOptions {
  readonly settings: Pick<Settings, 'dialling'>;
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
