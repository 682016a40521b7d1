import { join } from 'node:path';
import { callsByCarrier } from '../call/admission/live-calls.ts';
import { type OpenCarriers, openCarriers } from '../carriers/open-carriers.ts';
import { type FrontChannel, LegsAtFront, type OrderHandlers } from './front-channel.ts';
import type { LocalCalls } from './call-host.ts';
import { done, ordersOn } from './call-orders.ts';
import { reachCalls } from './calls-here.ts';
import type { Assignment } from './protocol.ts';
import type { Bot } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import { Outbox } from '../records/outbox/outbox.ts';
import { isWanted } from '../records/webhooks/webhook-dispatcher.ts';
import type { Clock } from '../kernel/clock.ts';
import { favourEventLoop } from '../kernel/process-tuning.ts';
import { type BusinessEvents, createEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import { openTraces } from '../observability/traces.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from '../speech/platform.ts';
import { recallCaller } from '../records/privacy/recall-caller.ts';
import { openDatabase, storeOn } from '../records/database.ts';
import { type Calls, type CallsOptions, openJournal, startCalls } from './calls.ts';
import { sealsCalls, webhookBookOf } from './records.ts';
import { openCallStates } from './shared-state.ts';
import type { CallStates } from './shared-state/call-states.ts';
import { GatewaySpeech, SpareSlots } from './speech.ts';

export interface ServeMediaOptions {
  readonly config: LoadedConfig;
  readonly bots: readonly Bot[];
  /** Reads the bots again. @throws OffhookError saying what is wrong with them */
  readonly readBots: () => Promise<readonly Bot[]>;
  readonly speech: SpeechPlatformSettings;
  readonly assignment: Assignment;
  readonly channel: FrontChannel;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The front wants this process to end. */
  readonly onDrain: () => void;
}

export interface MediaService {
  /** Takes no other call, and waits until those there are have ended. */
  drain(): Promise<void>;
  /** Says goodbye to its calls, waits for their ends, and closes everything. */
  close(): Promise<void>;
}

/**
 * The composition root of a media process: has calls and nothing else. It has no port, and opens the front's store for sealed fixtures and remembered callers alone; sockets come from the
 * front, and what is to be kept goes into the outbox, which the front empties.
 * @throws OffhookError when a bot's dialog or the outbox cannot be opened
 */
export async function serveMedia(options: ServeMediaOptions): Promise<MediaService> {
  favourEventLoop();
  const { channel, clock, logger } = options;
  const metrics = createMetrics();
  const traces = await openTraces(options);
  const events = createEvents(logger, metrics, clock, traces);
  const { platform, speech, spare } = openMediaSpeech(options, { events, metrics });
  const fixtures = await openFixtureKeys(options);
  const callers = openCallers(options);
  const legs = new LegsAtFront(channel);
  const sealFixtures = fixtures?.sealUnder;
  const { recall } = callers;
  const reached = new Set<string>();
  const { calls, carriers, states } = await startMediaCalls(options, { speech, events, legs, sealFixtures, recall, reached });
  const { registry } = calls;
  platform.watchHealth(() => void calls.prepare());
  metrics.watchBotsDown(() => calls.botsDown());
  metrics.watchCalls(() => callsByCarrier(registry, carriers.keys()));
  registry.onGivenUp(({ callId }, why) => channel.report({ type: 'given-up', callId, why }));
  const local = reachCalls({ calls, carriers, speech, events, clock, logger });
  local.live.onNews((news) => channel.tellNews(news));
  channel.serve(ordersOfFront(options, { calls, local, legs, metrics, speech, spare, reached }));
  channel.report({ type: 'up' });
  const close = async (): Promise<void> => {
    channel.report({ type: 'leaving' });
    await local.close('the process stops');
    await states?.[Symbol.asyncDispose]();
    await speech[Symbol.asyncDispose]();
    await platform[Symbol.asyncDispose]();
    await fixtures?.close();
    await callers.close();
    await traces?.close();
  };
  let closed: Promise<void> | undefined;
  return {
    async drain() {
      channel.report({ type: 'leaving' });
      await registry.drain();
    },
    close: () => (closed ??= close()),
  };
}

interface FrontServing {
  readonly calls: Calls;
  readonly local: LocalCalls;
  readonly legs: LegsAtFront;
  readonly metrics: Pick<Metrics, 'snapshot'>;
  readonly speech: GatewaySpeech;
  readonly spare: SpareSlots;
  /** Bots whose calls have reached a limit of the day's costs. */
  readonly reached: Set<string>;
}

/** What a media process does when the front asks. */
function ordersOfFront(
  { readBots, onDrain }: ServeMediaOptions,
  { calls, local, legs, metrics, speech, spare, reached }: FrontServing,
): OrderHandlers {
  const { registry } = calls;
  let use: (() => void) | undefined;
  return {
    ...ordersOn(local),
    answer: ({ inbound, place }) => calls.answer(inbound, place),
    reserve: ({ call, place }) => registry.reserve(call, place),
    release: ({ callId, reason }) => done(registry.release(callId, reason)),
    metrics: () => metrics.snapshot(),
    'speech-failed': ({ service, vendor }) => done(speech.router.failedElsewhere(service, vendor)),
    'spend-reached'({ bots }) {
      reached.clear();
      for (const bot of bots) reached.add(bot);
      return null;
    },
    async 'load-bots'() {
      use = undefined;
      use = await calls.loadBots(await readBots());
      return null;
    },
    'use-bots'({ spareSlots }) {
      spare.share(spareSlots);
      use?.();
      return null;
    },
    'leg-addresses': (addresses) => done(legs.given(addresses)),
    'leg-refused': ({ legId, problem }) => done(legs.refused(legId, problem)),
    drain: () => done(onDrain()),
  };
}

/** Each process speaks with its share of what the platform allows; which calls there are is the front's to count. */
function openMediaSpeech(
  { config, bots, assignment, channel, clock, logger, ...options }: ServeMediaOptions,
  { events, metrics }: { readonly events: BusinessEvents; readonly metrics: Metrics },
): { platform: SpeechPlatform; speech: GatewaySpeech; spare: SpareSlots } {
  const { processes, spareSlots } = assignment;
  const synthesisSlotsPerKey = Math.max(1, Math.floor(config.settings.speech.slotsPerKey / processes));
  const platform = new SpeechPlatform({ ...options.speech, synthesisSlotsPerKey }, { clock, logger });
  const spare = new SpareSlots(spareSlots);
  const speech = new GatewaySpeech({
    config,
    bots,
    platform,
    events,
    clock,
    logger,
    processes,
    spare: (vendor) => spare.take(vendor),
    tellFailure: (service, vendor) => channel.report({ type: 'speech-failed', service, vendor }),
  });
  metrics.watchBreakers(() => platform.openBreakers);
  metrics.watchSpeechSlots(() => speech.router.slotGauges.filter(({ service }) => service === 'tts'));
  return { platform, speech, spare };
}

async function startMediaCalls(
  { config, bots, assignment, channel, clock, logger }: ServeMediaOptions,
  {
    speech,
    events,
    legs,
    sealFixtures,
    recall,
    reached,
  }: Pick<CallsOptions, 'speech' | 'events' | 'sealFixtures' | 'recall'> & { readonly legs: LegsAtFront } & Pick<
      FrontServing,
      'reached'
    >,
): Promise<{ calls: Calls; carriers: OpenCarriers; states: CallStates | undefined }> {
  const { settings } = config;
  const webhooks = webhookBookOf(config);
  const outbox = await Outbox.open(join(settings.dataDir, 'outbox'), () => clock.wallMs());
  const carriers = openCarriers({
    configs: config.carriers,
    dataDir: settings.dataDir,
    gatewayUrl: () => assignment.gatewayUrl,
    // Only agents' legs are dialled here.
    reported: (callId, report) => calls.registry.reported(callId, report),
    clock,
    logger,
  });
  const kept = (callId: string): ReturnType<typeof journal.kept> => journal.kept(callId);
  const states = await openCallStates(config, assignment.memberId, { kept, clock, logger });
  const journal = openJournal(settings.dataDir, clock, logger, states);
  const calls: Calls = await startCalls({
    config,
    bots,
    speech,
    carriers,
    events,
    clock,
    logger,
    journal,
    spend: {
      prices: config.prices,
      maximumPerCall: settings.spend.maximumPerCall,
      dayReached: ({ name }) => reached.has(name),
    },
    keeping: {
      outbox,
      pump: { wake: () => channel.report({ type: 'kept' }) },
      dispatcher: { isWanted: (type, tenantId) => isWanted(webhooks.all, type, tenantId) },
      seals: sealsCalls(config),
    },
    sealFixtures,
    recall,
    legDoor: legs,
    door: () => ({
      maximum: Number.POSITIVE_INFINITY,
      shedding: () => false,
      speechIsUp: () => true,
      reserveSpeech: (bot, place) => speech.router.reserve(bot, place),
    }),
    onBegun: (callId, carrierKey) => channel.report({ type: 'begun', callId, carrierKey }),
    onOver: (callId, carrierKey) => channel.report({ type: 'over', callId, carrierKey }),
    onLoad: ({ lagMs, shedding }) => channel.report({ type: 'load', lagMs, shedding }),
  });
  return { calls, carriers, states };
}

/** Keys for calls that are kept to be run again, by a store that is opened through its socket. */
async function openFixtureKeys(options: ServeMediaOptions) {
  const { config } = options;
  if (config.settings.call.keepFixtures === undefined || !sealsCalls(config)) return undefined;
  const store = await openFrontsStore(options);
  const { privacy } = store;
  return {
    sealUnder: (...asked: Parameters<typeof privacy.audioKey>) => privacy.audioKey(...asked),
    close: () => store.close(),
  };
}

/** What is known of callers who agreed to be remembered; the store is opened when the first one calls. */
function openCallers(options: ServeMediaOptions) {
  let opened: ReturnType<typeof openFrontsStore> | undefined;
  const open = (): ReturnType<typeof openFrontsStore> => {
    opened ??= openFrontsStore(options).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    recall: recallCaller(open),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

/** The store, which stays the front's. */
async function openFrontsStore({ config, clock, logger }: ServeMediaOptions) {
  const { settings, secrets } = config;
  const onProblem = (error: Error): void => logger.warn({ error }, 'store connection');
  const { masterKeys } = secrets;
  const { dataDir, store: where } = settings;
  const url = secrets.databaseUrl?.reveal();
  const options = { url, dataDir, masterKeys, clock, onProblem, waitMs: where.lockTimeoutMs };
  return storeOn(await openDatabase({ ...options, lasting: false }));
}
