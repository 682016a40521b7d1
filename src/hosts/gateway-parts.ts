import type { ChildProcess } from 'node:child_process';
import type { DoorOptions } from '../call/admission/call-door.ts';
import type { CallJournal } from '../call/log/call-journal.ts';
import type { CallNews } from '../call/log/call-news.ts';
import type { Carrier } from '../carriers/carrier.ts';
import { type OpenCarriers, openCarriers } from '../carriers/open-carriers.ts';
import type { Bot } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import { NO_PRICES } from '../config/prices.ts';
import type { BotDialog } from '../dialog/bot-dialog.ts';
import type { SettingsOrders } from '../http/api/settings/settings-orders.ts';
import type { CallIntake } from '../http/intake.ts';
import { configuredAddress } from '../http/public-addresses.ts';
import type { Clock } from '../kernel/clock.ts';
import { CarrierWatch } from '../observability/carrier-traffic.ts';
import { type BusinessEvents, createEvents } from '../observability/events.ts';
import { warnThrottled } from '../observability/log-throttle.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { openTraces } from '../observability/traces.ts';
import type { CallDialler } from '../outbound/dialler.ts';
import { DiallingProfiles } from '../outbound/profiles.ts';
import { OrphanWatch } from '../records/after-call/orphan-watch.ts';
import type { SlotLender } from '../speech/client/slot-lease.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from '../speech/platform.ts';
import type { CallSpeech } from '../speech/port.ts';
import type { SpeechVendor } from '../speech/vendors/vendor.ts';
import { type Backlog, openBacklog } from './backlog.ts';
import type { BotFolder } from './bot-orders.ts';
import { openJournal } from './calls.ts';
import type { ClusterCalls } from './cluster-calls.ts';
import type { Assignment } from './protocol.ts';
import type { RecordsOptions } from './records.ts';
import { openCallStates, slotLender } from './shared-state.ts';
import type { CallStates } from './shared-state/call-states.ts';
import type { SharedState } from './shared-state/port.ts';
import { GatewaySpeech } from './speech.ts';
import { SpendWatch } from './spend-watch.ts';

export interface GatewayOptions {
  readonly config: RecordsOptions['config'] & Pick<LoadedConfig, 'vendors'>;
  readonly bots: readonly Bot[];
  readonly speech: SpeechPlatformSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The registry's when absent. */
  readonly carriers?: readonly Carrier[];
  /** The registry's when absent. */
  readonly vendors?: readonly SpeechVendor[];
  /** Whether this process also does the jobs after calls. */
  readonly worker: boolean;
  /** Where the bots' files can be read again; the API shows no problems of them without. */
  readonly botFolder?: BotFolder;
  /** Checks that the console runs, and the catalogue of speech models; absent where they are not shown. */
  readonly check?: SettingsOrders['check'];
  readonly models?: SettingsOrders['models'];
  /** Hears what happens in calls of this process, their words included. */
  readonly news?: (news: CallNews) => void;
  /** Stands in for each bot's dialog in calls of this process, such as a rehearsal that answers what the dialog asks its servers. */
  readonly aroundDialogs?: ((dialog: BotDialog, bot: Bot) => BotDialog) | undefined;
  /** What this machine shares with the others of its gateway; it is the only one where absent. */
  readonly shared?: SharedState | undefined;
  /** Processes that have the calls; this process has them when absent. */
  readonly processes?: MediaProcesses | undefined;
}

export interface MediaProcesses {
  readonly size: number;
  /** Starts one, with a channel to it. It reads the bots by itself. */
  readonly launch: (number: number) => ChildProcess;
  /** The embedded speech platform, of which media processes cannot know by themselves. */
  readonly platform: Assignment['platform'];
}

/** What a gateway closes, in this order: what uses another part goes before it. */
const CLOSING_ORDER = [
  'calls',
  'alerts',
  'dialling',
  'orphans',
  'http',
  'cluster',
  'bots',
  'states',
  'spend',
  'backlog',
  'speech',
  'platform',
  'traces',
] as const;

/** What is open of a gateway: of one that runs, or of one whose start failed. */
export class OpenParts {
  readonly #closers = new Map<(typeof CLOSING_ORDER)[number], () => PromiseLike<unknown>>();
  #closed: Promise<void> | undefined;

  /** @param close takes the place of the part's earlier one */
  add(part: (typeof CLOSING_ORDER)[number], close: () => PromiseLike<unknown>): void {
    this.#closers.set(part, close);
  }

  /** Closes all parts once. @throws the first failure, after the other parts were closed too */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (const part of CLOSING_ORDER) {
      try {
        await this.#closers.get(part)?.();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Parts that are made after those that use them. */
interface LaterParts {
  /** The address it listens on; empty before that. */
  url: string;
  /** Those that new calls get. */
  bots: readonly Bot[];
  intake?: CallIntake;
  dialler?: CallDialler;
  cluster?: ClusterCalls;
}

/** What the calls of a gateway and its front share. */
export interface GatewayParts {
  readonly options: GatewayOptions;
  readonly later: LaterParts;
  readonly profiles: DiallingProfiles;
  readonly traffic: CarrierWatch;
  readonly metrics: Metrics;
  readonly events: BusinessEvents;
  readonly lender: SlotLender | undefined;
  readonly platform: SpeechPlatform;
  readonly speech: GatewaySpeech;
  readonly backlog: Backlog;
  readonly states: CallStates | undefined;
  readonly journal: CallJournal;
  readonly orphans: OrphanWatch;
  readonly carriers: OpenCarriers;
  readonly spend: SpendWatch;
  /** Where carriers find the gateway. */
  readonly gatewayUrl: () => string;
}

/** Opens everything that stands before the first call. @throws OffhookError when the store, the queue or a vendor cannot be opened */
export async function openParts(options: GatewayOptions, open: OpenParts): Promise<GatewayParts> {
  const { config, clock, logger } = options;
  const later: LaterParts = { url: '', bots: options.bots };
  const profiles = await DiallingProfiles.load(config.settings.dialling.folder);
  const traffic = new CarrierWatch(clock);
  const metrics = traffic.watching(createMetrics());
  const traces = await openTraces(options);
  if (traces !== undefined) open.add('traces', () => traces.close());
  const events = createEvents(logger, metrics, clock, traces);
  const speech = openSpeech(options, { events, metrics, open });
  const backlog = await openBacklog({
    ...options,
    bots: () => later.bots,
    speech: speech.platform,
    events,
    drain: true,
    onStored: async (record) => later.dialler?.follower.stored(record),
  });
  open.add('backlog', () => backlog.close());
  const spend = await openSpend(options, { later, backlog, open });
  const kept = await openLiveStates(options, { later, backlog, events, open });
  const gatewayUrl = (): string => configuredAddress(config.settings.publicUrl) ?? later.url;
  const carriers = openCarriers({
    configs: config.carriers,
    carriers: options.carriers,
    dataDir: config.settings.dataDir,
    gatewayUrl,
    reported: (callId, report) => later.intake?.dialReported(callId, report),
    clock,
    logger,
  });
  return { options, later, profiles, traffic, metrics, events, ...speech, backlog, spend, ...kept, carriers, gatewayUrl };
}

function openSpeech(
  { config, bots, speech: settings, vendors, shared, clock, logger }: GatewayOptions,
  { events, metrics, open }: { readonly events: BusinessEvents; readonly metrics: Metrics; readonly open: OpenParts },
): Pick<GatewayParts, 'lender' | 'platform' | 'speech'> {
  const lender = shared && slotLender(shared);
  const platform = new SpeechPlatform(settings, { clock, logger, lender });
  open.add('platform', () => platform[Symbol.asyncDispose]());
  const speech = new GatewaySpeech({ config, bots, platform, events, clock, logger, vendors, lender });
  open.add('speech', () => speech[Symbol.asyncDispose]());
  metrics.watchBreakers(() => platform.openBreakers);
  metrics.watchSpeechSlots(() => speech.router.slotGauges);
  metrics.watchSharedState(() => shared);
  return { lender, platform, speech };
}

/** Follows what calls cost. */
async function openSpend(
  { config, clock, logger }: GatewayOptions,
  { later, backlog, open }: Pick<GatewayParts, 'later' | 'backlog'> & { readonly open: OpenParts },
): Promise<SpendWatch> {
  const spend = new SpendWatch({
    settings: config.settings.spend,
    prices: config.prices ?? NO_PRICES,
    bots: () => later.bots,
    statistics: backlog.store.statistics,
    clock,
    onProblem: warnThrottled(logger, clock, 'costs of the day not read'),
  });
  open.add('spend', () => spend[Symbol.asyncDispose]());
  await spend.start();
  return spend;
}

/** The state of live calls on disk and for other machines, and the watch over what dead processes left of it. */
async function openLiveStates(
  { config, shared, clock, logger }: GatewayOptions,
  { later, backlog, events, open }: Pick<GatewayParts, 'later' | 'backlog' | 'events'> & { readonly open: OpenParts },
): Promise<Pick<GatewayParts, 'states' | 'journal' | 'orphans'>> {
  const kept = (callId: string): ReturnType<CallJournal['kept']> => journal.kept(callId);
  const states = await openCallStates(config, shared?.members.own.id, { kept, clock, logger });
  if (states !== undefined) open.add('states', () => states[Symbol.asyncDispose]());
  const journal = openJournal(config.settings.dataDir, clock, logger, states);
  const claims = states && {
    claim: async (callId: string) => (await later.cluster?.claim(callId)) === true,
    release: (callId: string) => void later.cluster?.release(callId),
  };
  const orphans = new OrphanWatch({ journal, keeping: backlog, claims, clock, logger, events });
  open.add('orphans', () => orphans[Symbol.asyncDispose]());
  await orphans.start();
  return { states, journal, orphans };
}

/** Where calls are let in, except for the load of whatever has them. */
export function doorOf({ options, speech, spend }: GatewayParts): Omit<DoorOptions<CallSpeech>, 'bots' | 'shedding'> {
  const { settings, tenants } = options.config;
  return {
    maximum: settings.call.maximum,
    maximumOf: (tenantId) => tenants?.find(({ id }) => id === tenantId)?.calls,
    ...speech.door,
    keepFree: settings.dialling.keepFree,
    spendReached: (bot) => spend.refuses(bot),
  };
}
