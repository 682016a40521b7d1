import type { OutboundCalls } from '../call/admission/outbound-calls.ts';
import { missingForDuties } from '../call/control/duties.ts';
import { DialGate, type DialGateParts } from '../outbound/ask-gate.ts';
import type { AttemptEvent } from '../outbound/attempt-steps.ts';
import { diallingDestinations, type DiallingProfiles } from '../outbound/profiles.ts';
import { CallDialler } from '../outbound/dialler.ts';
import { type NumberZones, readNumber } from '../outbound/number.ts';
import type { DayLimits } from '../outbound/gate/facts.ts';
import { SharedPace } from '../outbound/pacing.ts';
import { DialPrices } from '../outbound/prices.ts';
import { dialTokenMs } from '../carriers/dialling.ts';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import { type Bot, botsOfTenant } from '../config/bots.ts';
import type { Settings } from '../config/schema.ts';
import { type PlacingMeans, placingMeans, type Tenant } from '../config/tenants.ts';
import type { ApiDeps } from '../http/api/api-app.ts';
import type { StreamAddresses } from '../http/stream-addresses.ts';
import { keepEvent } from '../records/after-call/call-ended.ts';
import { attemptEvent } from '../records/webhooks/webhook-event.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics, MetricsSnapshot } from '../observability/metrics.ts';
import type { Attempt } from '../records/dialling.ts';
import type { Backlog } from './backlog.ts';
import { runCallBacks } from './call-backs.ts';
import { runCampaigns } from './campaigns.ts';
import { unreachableBots } from './system.ts';

export interface DiallingOptions {
  readonly settings: Pick<Settings, 'dialling'>;
  readonly tenants: readonly Tenant[];
  readonly profiles: DiallingProfiles;
  readonly zones: NumberZones;
  readonly bots: () => readonly Bot[];
  readonly backlog: Pick<Backlog, 'store' | 'queue' | 'outbox' | 'pump' | 'dispatcher'>;
  readonly carriers: OpenCarriers;
  readonly outbound: OutboundCalls;
  /** Waits until a call that begins finds a recognition slot at hand, or none is free. */
  readonly speechReady: () => Promise<void>;
  readonly streams: Pick<StreamAddresses, 'forDial' | 'placed'>;
  readonly events: BusinessEvents;
  readonly metrics: Metrics;
  /** The numbers of all processes as those of one. */
  readonly numbers: () => Promise<MetricsSnapshot>;
  /** The limit of the day's costs that a bot's calls have reached. */
  readonly spendReached?: DialGateParts['spendReached'];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The dialler of a gateway, which has the calls or knows the processes that have them. Not started yet. */
export function openDialling(options: DiallingOptions): CallDialler {
  const { settings, profiles, zones, bots, backlog, carriers, outbound, speechReady, streams, events, metrics, clock, logger } =
    options;
  const { callsPerSecond, callerIdCallsPerSecond, concurrency, detectMachine } = settings.dialling;
  const { attempts, calls, campaigns } = backlog.store;
  const destinations = diallingDestinations(settings, options.tenants, profiles);
  const gate = new DialGate({
    attempts,
    profiles,
    zones,
    means: meansOf(options),
    destinationsOf: destinations,
    limitsOf: limitsOf(options),
    prices: DialPrices.load(settings.dialling.prices),
    spendReached: options.spendReached,
    expectedMinutes: settings.dialling.expectedMinutes,
    tellJump: (jump) => events.dialsJumped(jump),
    missingFor(botName, duties) {
      const bot = bots().find(({ name }) => name === botName);
      return bot === undefined ? [] : missingForDuties(bot, settings.dialling, duties);
    },
    clock,
  });
  const dialler = new CallDialler({
    gate,
    destinationsOf: destinations,
    attempts,
    calls,
    outbound,
    speechReady,
    controlOf: (name) => carriers.get(name)?.control,
    addressesOf: (dial, ringTimeoutMs) => streams.forDial(dial, dialTokenMs(ringTimeoutMs)),
    placed: (name, callId, carrierCallId) => {
      if (!streams.placed(name, callId, carrierCallId))
        logger.warn({ carrier: name, callId }, 'call has another id at its carrier');
    },
    maxDurationMsOf: (botName) => bots().find(({ name }) => name === botName)?.maxDurationMs,
    zoneOf: (to) => onlyZoneOf(to, zones),
    pace: new SharedPace(campaigns, { carrier: callsPerSecond, line: callerIdCallsPerSecond }, clock),
    concurrency,
    detectMachine,
    tell: (event, attempt) => {
      tellEvent(events, event, attempt, clock.wallMs());
      tellWebhooks(backlog, event, attempt, options);
    },
    clock,
    logger,
  });
  metrics.watchDials(() => dialler.active);
  return dialler;
}

/** Follows attempts and runs campaigns until it is disposed of, the dialler with it. */
export function startDialling(options: DiallingOptions, dialler: CallDialler): AsyncDisposable {
  const { backlog, outbound } = options;
  dialler.start();
  const campaigns = runCampaigns({
    ...options,
    records: backlog,
    dialler,
    means: meansOf(options),
    room: () => (dialler.hasRoom ? outbound.room : 0),
  });
  const callBacks = runCallBacks(backlog, {
    ...options,
    means: meansOf(options),
    store: backlog.store,
    dialler,
    botsDown: async () => unreachableBots(await options.numbers()),
  });
  return {
    async [Symbol.asyncDispose]() {
      await callBacks.stop();
      await campaigns[Symbol.asyncDispose]();
      await dialler[Symbol.asyncDispose]();
    },
  };
}

/** Whose clock "call me at five" is on. */
function onlyZoneOf(to: string, zones: NumberZones): string | undefined {
  const number = readNumber(to);
  const [zone, ...others] = 'e164' in number ? zones.of(number) : [];
  return others.length === 0 ? zone : undefined;
}

/** Whether calls can be placed here at all: by a carrier's account, from a number that is ours. */
export function placesCalls(options: MeansOptions, tenantId: string): boolean {
  const { carriers, callerIds } = meansOf(options)(tenantId);
  return carriers.length > 0 && callerIds.length > 0;
}

type MeansOptions = Pick<DiallingOptions, 'settings' | 'tenants' | 'carriers'>;

function meansOf({ settings, tenants, carriers }: MeansOptions): (tenantId: string) => PlacingMeans {
  return placingMeans(settings, tenants, ableOf(carriers));
}

/** A tenant's own ceilings go before those of the settings. */
function limitsOf({ settings: { dialling }, tenants }: Pick<DiallingOptions, 'settings' | 'tenants'>) {
  return (tenantId: string): DayLimits => {
    const { callsPerDay = dialling.callsPerDay, costPerDay = dialling.costPerDay } =
      tenants.find(({ id }) => id === tenantId) ?? {};
    return { ...dialling, callsPerDay, costPerDay };
  };
}

/** Carriers that place calls for us. */
function ableOf(carriers: OpenCarriers): string[] {
  return [...carriers].filter(([, { control }]) => control?.dialling !== undefined).map(([name]) => name);
}

/** What the API places single calls by. */
export function dialOrders(
  options: Pick<DiallingOptions, 'bots'> & MeansOptions,
  dialler: CallDialler,
): NonNullable<ApiDeps['dialling']> {
  const { settings, bots } = options;
  return {
    dialler,
    bots: (tenantId) => botsOfTenant(bots(), tenantId).map(({ name }) => name),
    means: meansOf(options),
    settings: settings.dialling,
  };
}

function tellEvent(events: BusinessEvents, event: AttemptEvent, attempt: Attempt, nowMs: number): void {
  const { id: callId, carrier, campaignId, from, to, cause, disposition = 'unknown', placedAtMs = nowMs } = attempt;
  const about = { callId, carrier, ...(campaignId === undefined ? {} : { campaignId }) };
  switch (event) {
    case 'refused':
      return events.dialRefused({ ...about, refusal: cause ?? 'refused' });
    case 'placed':
      return events.dialPlaced({ ...about, from, to });
    case 'ringing':
      return events.dialRinging(about);
    case 'answered':
      return events.dialAnswered({ ...about, afterMs: Math.max(0, (attempt.answeredAtMs ?? nowMs) - placedAtMs) });
    case 'ended':
      return events.dialEnded({ ...about, outcome: disposition, ...(cause === undefined ? {} : { cause }) });
  }
}

/** Through the outbox, as events of live calls: a store or a queue that is away loses none. */
function tellWebhooks(
  { outbox, pump, dispatcher }: DiallingOptions['backlog'],
  what: AttemptEvent,
  attempt: Attempt,
  { clock, logger }: Pick<DiallingOptions, 'clock' | 'logger'>,
): void {
  if (!dispatcher.isWanted(`attempt.${what}`, attempt.tenantId)) return;
  keepEvent(outbox, pump, attemptEvent(what, attempt, clock.wallMs())).catch((error: unknown) => {
    logger.error({ callId: attempt.id, event: `attempt.${what}`, error }, 'webhook event of an attempt not written');
  });
}
