import type { ChildProcess } from 'node:child_process';
import type { CallDialler } from '../outbound/dialler.ts';
import { NumberZones } from '../outbound/number.ts';
import { DiallingProfiles } from '../outbound/profiles.ts';
import { MediaProcessPool } from './media-process-pool.ts';
import { CallDispatcher } from './call-dispatcher.ts';
import { dialTokenMs } from '../carriers/dialling.ts';
import { openCarriers } from '../carriers/open-carriers.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { LocalCalls } from './local-calls.ts';
import type { Assignment } from './protocol.ts';
import { configuredAddress } from '../http/public-addresses.ts';
import { listenAt } from '../http/listen.ts';
import { createHttpServer } from '../http/server.ts';
import { StreamAddresses } from '../http/stream-addresses.ts';
import { OrphanWatch } from '../records/after-call/orphan-watch.ts';
import { errorText } from '../kernel/errors.ts';
import { CarrierWatch } from '../observability/carrier-traffic.ts';
import { createEvents } from '../observability/events.ts';
import { measureLoopLag } from '../observability/loop-lag.ts';
import { openTraces } from '../observability/traces.ts';
import { addUp, createMetrics, type Metrics, type MetricsSnapshot } from '../observability/metrics.ts';
import { SpeechPlatform } from '../speech/platform.ts';
import type { Gateway, GatewayOptions } from './app.ts';
import { apiKeysOf } from './api-keys.ts';
import { openBacklog } from './backlog.ts';
import { type Cluster, joinCluster } from './cluster.ts';
import { consoleParts } from './console.ts';
import { CallDrain } from './call-drain.ts';
import { botOfLeft, botsOf, openJournal } from './calls.ts';
import { botOrders } from './bot-orders.ts';
import { type DiallingOptions, dialOrders, openDialling, startDialling } from './dialling.ts';
import { listeningOrders } from './listening.ts';
import { keptAt, openCallStates, slotLender } from './shared-state.ts';
import { systemOrders } from './system.ts';
import { GatewaySpeech } from './speech.ts';
import type { CallRecord } from '../records/record.ts';

export interface FrontOptions extends Omit<GatewayOptions, 'news'> {
  /** Media processes. */
  readonly processes: number;
  /** Starts one, with a channel to it. */
  readonly launch: (number: number) => ChildProcess;
  /** The embedded speech platform, of which media processes cannot know by themselves. */
  readonly platform: Assignment['platform'];
}

/** A gateway whose calls are in processes of their own, which read the bots again by themselves. */
export type Front = Pick<Gateway, 'url' | 'useBots' | 'callDrain' | 'drain' | 'close'> & AsyncDisposable;

/** Time a media process gets to come up. */
const START_TIMEOUT_MS = 60_000;

/**
 * The composition root of a gateway of several processes: this one has the port, the store, the queue and its worker, lets
 * calls in and knows where each one is; the media processes have the calls.
 * @throws OffhookError when the store, the queue, the port or a media process cannot be opened
 */
export async function startFront(options: FrontOptions): Promise<Front> {
  const { clock, logger, processes, launch, platform } = options;
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
  const speechPlatform = new SpeechPlatform(options.speech, { clock, logger, lender });
  const speech = new GatewaySpeech({ config: options.config, bots, platform: speechPlatform, events, clock, logger, lender });
  metrics.watchBreakers(() => speechPlatform.openBreakers);
  metrics.watchSpeechSlots(() => speech.router.slotGauges);
  metrics.watchSharedState(() => options.shared);
  const share = async (): Promise<Assignment['spareSlots']> => {
    const machines = (await lender?.members()) ?? 1;
    return speech.router.shareSpare({ bots, calls: settings.call.maximum, processes, machines });
  };
  let spareSlots = await share();
  const gatewayUrl = (): string => configuredAddress(settings.publicUrl) ?? url;
  const { dataDir } = settings;
  const carriers = openCarriers({
    configs: options.config.carriers,
    dataDir,
    gatewayUrl,
    reported: (callId, report) => whole.intake.dialReported(callId, report),
    clock,
    logger,
  });
  const onStored = async (record: CallRecord): Promise<void> => dialler?.follower.stored(record);
  const backlog = await openBacklog({ ...options, bots: () => bots, speech: speechPlatform, events, drain: true, onStored });
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

  const closeLeg = (legId: string): void => {
    dispatcher.closeLeg(legId);
    cluster?.calls.over(legId);
  };
  const pool: MediaProcessPool = new MediaProcessPool({
    size: processes,
    launch,
    assignment: () => ({ spareSlots, gatewayUrl: gatewayUrl(), platform, memberId: options.shared?.members.own.id }),
    clock,
    logger,
    startTimeoutMs: START_TIMEOUT_MS,
    onReport(process, report) {
      if (report.type === 'kept') backlog.pump?.wake();
      else if (report.type === 'news') dispatcher.tellNews(report);
      else if (report.type === 'speech-failed') {
        speech.router.failedElsewhere(report.service, report.vendor);
        pool.speechFailed(process, report);
      } else if (report.type === 'leg') {
        const { legId: callId, carrier, attachmentId, ringMs } = report;
        dispatcher.openLeg(process, callId);
        streams.forDial({ carrier, callId, attachmentId }, dialTokenMs(ringMs)).then(
          (addresses) => process.tell('leg-addresses', { legId: callId, ...addresses }),
          (error: unknown) => {
            logger.error({ callId: report.callId, error }, "addresses of an agent's leg not made");
            closeLeg(callId);
            process.tell('leg-refused', { legId: callId, problem: errorText(error) });
          },
        );
      } else if (report.type === 'leg-placed') streams.placed(report.carrier, report.legId, report.carrierCallId);
      else if (report.type === 'leg-over') closeLeg(report.legId);
      else if (report.type === 'begun' || report.type === 'given-up' || report.type === 'over') dispatcher.heard(process, report);
    },
    onGone(process) {
      const lost = dispatcher.gone(process);
      if (lost > 0) logger.error({ process: process.number, calls: lost }, 'media process exited: its calls are lost');
      orphans.wake();
      backlog.pump?.wake();
    },
  });
  const dispatcher = new CallDispatcher({
    get bots() {
      return bots;
    },
    maximum: settings.call.maximum,
    maximumOf: (tenantId) => options.config.tenants?.find(({ id }) => id === tenantId)?.calls,
    ...speech.door,
    reserveSpeech: (bot) => speech.router.reservePlace(bot),
    keepFree: settings.dialling.keepFree,
    botOf: (callId) => botOfLeft(journal, callId),
    onDialReport: (callId, report) => dialling.reported(callId, report),
    onBegun: (callId, carrierKey) => cluster?.calls.begun(callId, carrierKey),
    onOver: (callId) => cluster?.calls.over(callId),
    processes: () => pool.members,
    stopping: () => pool.stopping || callDrain.draining,
    clock,
  });
  const callDrain: CallDrain = new CallDrain(
    {
      active: () => dispatcher.active,
      drain: () => dispatcher.drained(),
      // The dispatcher asks whether the gateway is draining.
      takeCalls: () => undefined,
    },
    clock,
  );
  const { shared } = options;
  const streams = new StreamAddresses({
    baseUrl: gatewayUrl,
    carriers,
    media: dispatcher.media,
    opened: (callId) => cluster?.calls.opened(callId),
    key: await shared?.secret('stream-tokens'),
    spent: shared?.spent,
    clock,
  });
  const numbers = async (): Promise<MetricsSnapshot> => addUp([await metrics.snapshot(), ...(await pool.metrics())]);
  const diallingOptions: DiallingOptions = {
    settings,
    tenants: options.config.tenants ?? [],
    profiles: dialProfiles,
    zones: NumberZones.load(),
    bots: () => bots,
    backlog,
    carriers,
    outbound: dispatcher,
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
  const lag = measureLoopLag();
  const botDesk = botOrders({ bots: () => bots, folder: options.botFolder, settings, clock });
  botDesk.learn();
  const local: LocalCalls = {
    intake: dispatcher,
    live: dispatcher,
    media: dispatcher.media,
    audio: dispatcher.audio,
    has: dispatcher.has,
    hasCarrierCall: dispatcher.hasCarrierCall,
    speechReady: () => speech.router.ready(),
    again: (inbound) => dispatcher.again(inbound),
    giveUp: (callId) => dispatcher.release(callId, 'went on elsewhere'),
    redeem: (botNames, token) => dispatcher.redeem(botNames, token),
  };
  const completed = (grant: StreamGrant): StreamGrant => streams.completed(grant);
  cluster = shared && (await joinCluster({ settings, local, shared, keptAt: keptAt(states), completed, events, clock, logger }));
  const whole = cluster?.calls ?? local;
  const http = createHttpServer({
    settings,
    clock,
    logger,
    events,
    metrics: together(metrics, pool),
    carriers,
    intake: whole.intake,
    media: whole.media,
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
        calls: () => ({ live: dispatcher.active, most: settings.call.maximum, draining: callDrain.draining }),
        processes: () => [
          {
            name: 'front',
            pid: process.pid,
            state: callDrain.draining ? 'leaving' : 'up',
            lagMs: lag.takeP99Ms(),
            shedding: false,
            calls: null,
          },
          ...pool.states((member) => dispatcher.callsOf(member)),
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
      const { up } = pool;
      return {
        ready: speech.state(bots) !== 'down' && up > 0 && !dispatcher.shedding && !callDrain.draining && cutOff === undefined,
        parts: {
          speech: speech.state(bots),
          store,
          load: dispatcher.shedding ? 'late' : 'ok',
          calls: callDrain.draining ? 'draining' : 'ok',
          processes: `${up} of ${processes}`,
          ...(cluster === undefined ? {} : { cluster: cutOff ?? 'ok' }),
        },
      };
    },
  });
  metrics.watchLoopLag(() => ({
    lagMs: Math.max(0, ...pool.members.map(({ load }) => load.lagMs)),
    shedding: dispatcher.shedding,
  }));
  metrics.watchProcesses(() => pool);
  const close = async (): Promise<void> => {
    lag[Symbol.dispose]();
    callDrain.stop();
    await callDrain.end(() => pool.stop());
    await (running ?? dialling)[Symbol.asyncDispose]();
    await orphans[Symbol.asyncDispose]();
    await http.close();
    await cluster?.[Symbol.asyncDispose]();
    await botDesk[Symbol.asyncDispose]();
    await states?.[Symbol.asyncDispose]();
    await backlog.close();
    await speech[Symbol.asyncDispose]();
    await speechPlatform[Symbol.asyncDispose]();
    await traces?.close();
  };
  let closed: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => (closed ??= close());
  let url = '';
  try {
    url = await listenAt(http, settings.http);
    await pool.start();
  } catch (error) {
    await closeOnce();
    throw error;
  }
  running = startDialling(diallingOptions, dialling);
  speechPlatform.watchHealth();
  return {
    url,
    async useBots(next) {
      await pool.loadBots(async () => {
        bots = next;
        // Another vendor may be the first of these.
        spareSlots = await share();
        return spareSlots;
      });
      botDesk.learn();
    },
    callDrain,
    drain() {
      callDrain.stop();
      void shared?.members.leave();
      pool.startNoMore();
      return callDrain.drain();
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

/** The numbers of all processes as those of one. */
function together(metrics: Metrics, pool: MediaProcessPool): Metrics {
  return { ...metrics, render: async () => metrics.render(await pool.metrics()) };
}
