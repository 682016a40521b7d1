import { join } from 'node:path';
import type { CallRegistry } from '../call/admission/call-registry.ts';
import { callsByCarrier, liveCallsOf } from '../call/admission/live-calls.ts';
import { NumberZones } from '../outbound/number.ts';
import { DiallingProfiles } from '../outbound/profiles.ts';
import type { CallDialler } from '../outbound/dialler.ts';
import type { CallNews } from '../call/log/call-news.ts';
import type { Carrier } from '../carriers/carrier.ts';
import { dialTokenMs } from '../carriers/dialling.ts';
import { openCarriers } from '../carriers/open-carriers.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { LocalCalls } from './local-calls.ts';
import type { Bot } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import { configuredAddress } from '../http/public-addresses.ts';
import { GivenSockets } from '../http/given-sockets.ts';
import { LocalLiveAudio } from '../http/live-audio.ts';
import { serveGivenMedia } from '../http/serve-given-media.ts';
import { ExpectedMedia } from '../http/intake.ts';
import { listenAt } from '../http/listen.ts';
import { createHttpServer } from '../http/server.ts';
import { StreamAddresses } from '../http/stream-addresses.ts';
import { OrphanWatch } from '../records/after-call/orphan-watch.ts';
import type { Clock } from '../kernel/clock.ts';
import { favourEventLoop } from '../kernel/process-tuning.ts';
import { CarrierWatch } from '../observability/carrier-traffic.ts';
import { createEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import { openTraces } from '../observability/traces.ts';
import { createMetrics, type MetricsSnapshot } from '../observability/metrics.ts';
import type { SharedState } from './shared-state/port.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from '../speech/platform.ts';
import type { SpeechVendor } from '../speech/vendors/vendor.ts';
import { apiKeysOf } from './api-keys.ts';
import { type Backlog, openBacklog } from './backlog.ts';
import { type Cluster, joinCluster } from './cluster.ts';
import { consoleParts } from './console.ts';
import { CallDrain } from './call-drain.ts';
import { botsOf, callIntake, openJournal, startCalls } from './calls.ts';
import { type BotFolder, botOrders } from './bot-orders.ts';
import { type DiallingOptions, dialOrders, openDialling, startDialling } from './dialling.ts';
import { listeningOrders } from './listening.ts';
import { keptAt, openCallStates, slotLender } from './shared-state.ts';
import { systemOrders } from './system.ts';
import { GatewaySpeech } from './speech.ts';
import type { RecordsOptions } from './records.ts';
import type { CallRecord } from '../records/record.ts';

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
  /** Hears what happens in calls, their words included. */
  readonly news?: (news: CallNews) => void;
  /** What this machine shares with the others of its gateway; it is the only one where absent. */
  readonly shared?: SharedState | undefined;
}

export interface Gateway extends AsyncDisposable {
  /** The address it listens on. */
  readonly url: string;
  readonly calls: CallRegistry;
  readonly backlog: Backlog;
  /** Resolves when the bots' fixed sentences are in the cache, or could not be spoken. Calls are taken before that. */
  readonly prepared: Promise<void>;
  /** Where a call's record is kept as JSON. */
  recordPath(callId: string, startedAtWallMs: number): string;
  /** Has new calls get other bots; live ones keep theirs. @throws OffhookError when a bot's dialog cannot be opened; nothing has changed then */
  useBots(bots: readonly Bot[]): Promise<void>;
  /** By whom, and whether, calls are refused: operators drain a gateway and undo that. */
  readonly callDrain: CallDrain;
  /** Takes no other call for good, and waits until those there are have ended. */
  drain(): Promise<void>;
  /** Says goodbye to live calls, waits for their ends, and closes everything in order. */
  close(): Promise<void>;
}

/**
 * The composition root: builds every adapter, starts the gateway and its worker.
 * @throws OffhookError when a bot's dialog, the store, the queue or the port cannot be opened
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  favourEventLoop();
  const { clock, logger } = options;
  let { bots } = options;
  let dialler: CallDialler | undefined;
  let running: AsyncDisposable | undefined;
  let cluster: Cluster | undefined;
  const { settings, secrets } = options.config;
  const traffic = new CarrierWatch(clock);
  const metrics = traffic.watching(createMetrics());
  const traces = await openTraces(options);
  const events = createEvents(logger, metrics, clock, traces);
  // First, while nothing is open that a broken profile would leave open.
  const dialProfiles = await DiallingProfiles.load(settings.dialling.folder);
  const lender = options.shared && slotLender(options.shared);
  const platform = new SpeechPlatform(options.speech, { clock, logger, lender });
  const { vendors } = options;
  const speech = new GatewaySpeech({ config: options.config, bots, platform, events, clock, logger, vendors, lender });
  metrics.watchBreakers(() => platform.openBreakers);
  metrics.watchSpeechSlots(() => speech.router.slotGauges);
  metrics.watchSharedState(() => options.shared);
  const onStored = async (record: CallRecord): Promise<void> => dialler?.follower.stored(record);
  const backlog = await openBacklog({ ...options, bots: () => bots, speech: platform, events, drain: true, onStored });
  const states = await openCallStates(options.config, options.shared?.members.own.id, {
    kept: (callId) => journal.kept(callId),
    clock,
    logger,
  });
  const journal = openJournal(settings.dataDir, clock, logger, states);
  const claims = states && {
    claim: async (callId: string) => (await cluster?.calls.adopt(callId)) === true,
    release: (callId: string) => cluster?.calls.over(callId),
  };
  const orphans = new OrphanWatch({ journal, keeping: backlog, claims, clock, logger, events });
  await orphans.start();
  const gatewayUrl = (): string => configuredAddress(settings.publicUrl) ?? url;
  const { dataDir } = settings;
  const carriers = openCarriers({
    configs: options.config.carriers,
    carriers: options.carriers,
    dataDir,
    gatewayUrl,
    reported: (callId, report) => intake.dialReported(callId, report),
    clock,
    logger,
  });
  const calls = await startCalls({
    ...options,
    speech,
    carriers,
    events,
    journal,
    keeping: backlog,
    legDoor: {
      addresses: ({ legId: callId, ...leg }, ringMs) => streams.forDial({ ...leg, callId }, dialTokenMs(ringMs)),
      placed: ({ carrier, legId }, carrierCallId) => void streams.placed(carrier, legId, carrierCallId),
      closed({ legId, attachmentId }) {
        expected.abandon(attachmentId, 'the leg is over');
        cluster?.calls.over(legId);
      },
    },
    onBegun: (callId, carrierKey) => cluster?.calls.begun(callId, carrierKey),
    onOver: (callId) => cluster?.calls.over(callId),
    sealFixtures: backlog.seals ? (tenantId, callId, make) => backlog.store.privacy.audioKey(tenantId, callId, make) : undefined,
    door: (load) => ({
      maximum: settings.call.maximum,
      maximumOf: (tenantId) => options.config.tenants?.find(({ id }) => id === tenantId)?.calls,
      shedding: () => load().shedding,
      ...speech.door,
      keepFree: settings.dialling.keepFree,
    }),
  });
  const { registry, load } = calls;
  const callDrain = new CallDrain(
    {
      active: () => registry.active,
      drain: () => registry.drain(),
      takeCalls: () => registry.takeCalls(),
    },
    clock,
  );
  metrics.watchBotsDown(() => calls.botsDown());
  metrics.watchCalls(() => callsByCarrier(registry, carriers.keys()));
  const ownIntake = callIntake(registry, (callId, report) => dialling.reported(callId, report));
  const expected = new ExpectedMedia(clock, ownIntake);
  const { shared } = options;
  const streams = new StreamAddresses({
    baseUrl: gatewayUrl,
    carriers,
    media: expected,
    opened: (callId) => cluster?.calls.opened(callId),
    key: await shared?.secret('stream-tokens'),
    spent: shared?.spent,
    clock,
  });
  const numbers = (): Promise<MetricsSnapshot> => metrics.snapshot();
  const diallingOptions: DiallingOptions = {
    settings,
    tenants: options.config.tenants ?? [],
    profiles: dialProfiles,
    zones: NumberZones.load(),
    bots: () => bots,
    backlog,
    carriers,
    outbound: registry,
    speechReady: () => speech.router.ready(),
    streams,
    events,
    metrics,
    numbers,
    clock,
    logger,
  };
  const dialling = openDialling(diallingOptions);
  dialler = dialling;
  const botDesk = botOrders({ bots: () => bots, folder: options.botFolder, settings, clock });
  botDesk.learn();
  const audio = new LocalLiveAudio({ registry, clock, logger });
  const live = liveCallsOf(calls);
  const sockets = new GivenSockets();
  const serving = { intake: ownIntake, expected, sockets, clock, events, logger, carriers };
  const local: LocalCalls = {
    intake: ownIntake,
    live,
    media: {
      expect: (...about) => expected.expect(...about),
      abandon: (...about) => expected.abandon(...about),
      take: (grant, upgrade) => serveGivenMedia(serving, grant, upgrade),
    },
    audio,
    has: (callId) => registry.has(callId),
    hasCarrierCall: (key) => registry.hasCarrierCall(key),
    speechReady: () => speech.router.ready(),
    again: (inbound) => registry.again(inbound),
    giveUp: (callId) => registry.release(callId, 'went on elsewhere'),
    redeem: (botNames, token) => calls.redeem(botNames, token),
  };
  const completed = (grant: StreamGrant): StreamGrant => streams.completed(grant);
  cluster = shared && (await joinCluster({ settings, local, shared, keptAt: keptAt(states), completed, events, clock, logger }));
  const whole = cluster?.calls ?? local;
  const { intake } = whole;
  const http = createHttpServer({
    settings,
    clock,
    logger,
    events,
    metrics,
    carriers,
    intake,
    expected,
    ...(cluster === undefined ? {} : { media: cluster.calls.media }),
    streams,
    rates: shared?.rates,
    spent: shared?.spent,
    api: {
      keys: apiKeysOf(options.config, backlog.store, clock),
      ...backlog,
      clock,
      bots: botDesk,
      system: systemOrders({
        settings,
        secrets,
        bots: () => bots,
        lastReload: () => botDesk.lastReload,
        speech,
        backlog,
        carriers,
        traffic,
        callDrain,
        clock,
        numbers,
        calls: () => ({ live: registry.calls.length, most: settings.call.maximum, draining: registry.draining }),
        processes: () => [
          {
            name: 'gateway',
            pid: process.pid,
            state: registry.draining ? 'leaving' : 'up',
            lagMs: load.lagMs,
            shedding: load.shedding,
            calls: registry.calls.length,
          },
        ],
      }),
      dialling: dialOrders(diallingOptions, dialling),
      live: {
        calls: whole.live,
        audit: backlog.audit,
        elsewhere: (callId) => journal.elsewhere(callId),
        logger,
        audio: whole.audio,
        listening: listeningOrders(carriers, () => bots, streams),
      },
    },
    console: await consoleParts(options.config, backlog, shared),
    board: secrets.adminPassword && { password: secrets.adminPassword, queue: backlog.queue },
    redeem: (botSecret, token) => whole.redeem(botsOf(bots, botSecret), token),
    ready: async () => {
      const [store, cutOff] = await Promise.all([backlog.storeState(), cluster?.calls.cutOff.problem()]);
      return {
        ready: speech.state(bots) !== 'down' && !load.shedding && !registry.draining && cutOff === undefined,
        parts: {
          speech: speech.state(bots),
          store,
          load: load.shedding ? 'late' : 'ok',
          calls: registry.draining ? 'draining' : 'ok',
          ...(cluster === undefined ? {} : { cluster: cutOff ?? 'ok' }),
        },
      };
    },
  });
  metrics.watchLoopLag(() => load);
  const url = await listenAt(http, settings.http);
  running = startDialling(diallingOptions, dialling);
  // What could not be spoken while the platform was away is spoken when it is back.
  platform.watchHealth(() => void calls.prepare());

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    callDrain.stop();
    await callDrain.end(() => calls.close());
    audio.close();
    sockets.close('gateway stops', clock);
    await (running ?? dialling)[Symbol.asyncDispose]();
    await http.close();
    await cluster?.[Symbol.asyncDispose]();
    await botDesk[Symbol.asyncDispose]();
    await orphans[Symbol.asyncDispose]();
    await states?.[Symbol.asyncDispose]();
    await backlog.close();
    await speech[Symbol.asyncDispose]();
    await platform[Symbol.asyncDispose]();
    await traces?.close();
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  return {
    url,
    calls: registry,
    backlog,
    prepared: calls.prepared,
    recordPath: (callId, startedAtWallMs) => join(settings.dataDir, 'recordings', dayOf(startedAtWallMs), `${callId}.call.json`),
    async useBots(next) {
      const use = await calls.loadBots(next);
      use();
      bots = next;
      botDesk.learn();
    },
    callDrain,
    drain() {
      callDrain.stop();
      void shared?.members.leave();
      return callDrain.drain();
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

function dayOf(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}
