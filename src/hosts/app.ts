import { join } from 'node:path';
import type { CallRegistry } from '../call/admission/call-registry.ts';
import { OrderRefusedError } from '../call/control/supervision.ts';
import { dialTokenMs } from '../carriers/dialling.ts';
import { listeningCarriers } from '../carriers/open-carriers.ts';
import { type Bot, botsOfTenant } from '../config/bots.ts';
import { NO_PRICES } from '../config/prices.ts';
import { tenantOfAccount } from '../config/tenant-id.ts';
import type { ApiDeps, LiveCallOrders, SystemOrders } from '../http/api/api-app.ts';
import { listenAt } from '../http/given-sockets.ts';
import { createHttpServer, type HttpServerDeps } from '../http/server.ts';
import { ConsoleKey, SealedLinks, SignInLinks } from '../http/session/console-key.ts';
import { OpenIdSignIn } from '../http/session/openid.ts';
import { StreamAddresses } from '../http/stream-addresses.ts';
import { favourEventLoop } from '../kernel/process-tuning.ts';
import { addUp, type MetricsSnapshot } from '../observability/metrics.ts';
import type { CallDialler } from '../outbound/dialler.ts';
import { NumberZones } from '../outbound/number.ts';
import { openAlerts } from './alerts.ts';
import type { Backlog } from './backlog.ts';
import { botOrders } from './bot-orders.ts';
import { CallDrain, type CallHost, type HostedBy, type ReachedCalls } from './call-host.ts';
import { botsOf } from './calls.ts';
import { hostCallsHere } from './calls-here.ts';
import { hostCallsInProcesses } from './calls-in-processes.ts';
import { ClusterCalls } from './cluster-calls.ts';
import { type DiallingOptions, dialOrders, openDialling, startDialling } from './dialling.ts';
import { type GatewayOptions, type GatewayParts, OpenParts, openParts } from './gateway-parts.ts';
import { PeerProofs, PeerServer } from './peer-server.ts';
import { apiKeysOf } from './records.ts';
import { keptAt } from './shared-state.ts';
import { settingsOrders } from './settings-orders.ts';
import { trySpeech } from './speech-trial.ts';
import { systemOrders } from './system.ts';

export interface Gateway extends AsyncDisposable {
  /** The address it listens on. */
  readonly url: string;
  /** The calls of this process. @throws TypeError where media processes have them */
  readonly calls: CallRegistry;
  readonly backlog: Backlog;
  /** Resolves when the bots' fixed sentences are in the cache, or could not be spoken. Calls are taken before that. */
  readonly prepared: Promise<void>;
  /** Where a call's record is kept as JSON. */
  recordPath(callId: string, startedAtWallMs: number): string;
  /**
   * Has new calls get other bots; live ones keep theirs. Media processes read them by themselves.
   * @throws OffhookError when a bot's dialog cannot be opened; nothing has changed then
   */
  useBots(bots: readonly Bot[]): Promise<void>;
  /** By whom, and whether, calls are refused: operators drain a gateway and undo that. */
  readonly callDrain: CallDrain;
  /** Takes no other call for good, and waits until those there are have ended. */
  drain(): Promise<void>;
  /** Says goodbye to live calls, waits for their ends, and closes everything in order. */
  close(): Promise<void>;
}

/**
 * The composition root: a front, which has the port, the store, the queue and its worker, and a host, which has the calls: this
 * process or media processes.
 * @throws OffhookError when a bot's dialog, the store, the queue, the port or a media process cannot be opened; nothing stays open then
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  if (options.processes === undefined) favourEventLoop();
  const open = new OpenParts();
  try {
    return await openGateway(options, open);
  } catch (error) {
    await open
      .close()
      .catch((problem: unknown) => options.logger.warn({ error: problem }, 'cleanup after a failed start failed'));
    throw error;
  }
}

/** What routes and orders are served by. */
interface Front {
  readonly parts: GatewayParts;
  readonly host: CallHost;
  readonly callDrain: CallDrain;
  readonly streams: StreamAddresses;
  readonly dialling: { readonly options: DiallingOptions; readonly dialler: CallDialler };
  readonly bots: ReturnType<typeof botOrders>;
  readonly cluster: ClusterCalls | undefined;
  /** The calls of all machines. */
  readonly whole: ReachedCalls;
  readonly numbers: () => Promise<MetricsSnapshot>;
}

async function openGateway(options: GatewayOptions, open: OpenParts): Promise<Gateway> {
  const parts = await openParts(options, open);
  const { later, metrics } = parts;
  const front = await openFront(parts, open);
  const { host, dialling } = front;
  const http = createHttpServer(await httpParts(front, open));
  open.add('http', () => http.close());
  metrics.watchLoopLag(() => host.load);
  later.url = await listenAt(http, options.config.settings.http);
  await host.start();
  const running = startDialling(dialling.options, dialling.dialler);
  open.add('dialling', () => running[Symbol.asyncDispose]());
  // What could not be spoken while the platform was away is spoken when it is back.
  parts.platform.watchHealth(() => host.prepare());
  return gatewayOf(front, open);
}

function gatewayOf({ parts, host, callDrain, bots }: Front, open: OpenParts): Gateway {
  const { later, backlog, options } = parts;
  const close = (): Promise<void> => open.close();
  const useBots = async (next: readonly Bot[]): Promise<void> => {
    await host.loadBots(next, () => (later.bots = next));
    bots.learn();
  };
  options.botFolder?.serve(useBots);
  return {
    url: later.url,
    get calls() {
      if (host.registry === undefined) throw new TypeError('the calls of this gateway are in its media processes');
      return host.registry;
    },
    backlog,
    prepared: host.prepared,
    recordPath(callId, startedAtWallMs) {
      const day = new Date(startedAtWallMs).toISOString().slice(0, 10);
      return join(options.config.settings.dataDir, 'recordings', day, `${callId}.call.json`);
    },
    useBots,
    callDrain,
    drain() {
      callDrain.stop();
      void options.shared?.members.leave();
      host.startNoMore();
      return callDrain.drain();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Opens the host of the calls, and all that carriers, the API and other machines reach them by. */
async function openFront(parts: GatewayParts, open: OpenParts): Promise<Front> {
  const { later, options } = parts;
  const { config, clock, shared } = options;
  const key = await shared?.secret('stream-tokens');
  const host = await openHost(parts, () => streams);
  const callDrain = new CallDrain(host, clock);
  open.add('calls', () => {
    callDrain.stop();
    return callDrain.end(() => host.close());
  });
  const streams: StreamAddresses = new StreamAddresses({
    baseUrl: parts.gatewayUrl,
    carriers: parts.carriers,
    media: host.media,
    opened: async (callId) => void (await later.cluster?.claim(callId)),
    key,
    spent: shared?.spent,
    clock,
  });
  const numbers = (): Promise<MetricsSnapshot> => numbersOf(parts, host);
  const dialling = openDiallingOf(parts, { host, streams, numbers });
  open.add('dialling', () => dialling.dialler[Symbol.asyncDispose]());
  const { settings, prices } = config;
  const bots = botOrders({ bots: () => later.bots, folder: options.botFolder, settings, prices, clock });
  open.add('bots', () => bots[Symbol.asyncDispose]());
  bots.learn();
  const cluster = await joinCluster(parts, { host, streams, open });
  const whole = cluster?.calls ?? host;
  later.intake = whole.intake;
  return { parts, host, callDrain, streams, dialling, bots, cluster, whole, numbers };
}

function openHost(parts: GatewayParts, streams: () => StreamAddresses): Promise<CallHost> {
  const { later, options } = parts;
  const gateway: HostedBy = {
    legs: {
      addresses: ({ legId: callId, carrier, attachmentId }, ringMs) =>
        streams().forDial({ carrier, callId, attachmentId }, dialTokenMs(ringMs)),
      placed: ({ carrier, legId }, carrierCallId) => void streams().placed(carrier, legId, carrierCallId),
      closed: ({ legId }) => void later.cluster?.release(legId),
    },
    dialReported: (callId, report) => later.dialler?.reported(callId, report),
    begun: (callId, carrierKey) => void later.cluster?.claim(callId, carrierKey),
    over: (callId) => void later.cluster?.release(callId),
  };
  const { processes } = options;
  return processes === undefined ? hostCallsHere(parts, gateway) : hostCallsInProcesses(parts, processes, gateway);
}

/** The numbers of all processes as those of one. */
async function numbersOf({ metrics }: GatewayParts, host: CallHost): Promise<MetricsSnapshot> {
  const [own, others] = await Promise.all([metrics.snapshot(), host.metrics()]);
  return others.length === 0 ? own : addUp([own, ...others]);
}

function openDiallingOf(
  parts: GatewayParts,
  { host, streams, numbers }: Pick<Front, 'host' | 'streams' | 'numbers'>,
): Front['dialling'] {
  const { later, profiles, backlog, carriers, events, metrics, spend } = parts;
  const { config, clock, logger } = parts.options;
  const options: DiallingOptions = {
    settings: config.settings,
    tenants: config.tenants ?? [],
    profiles,
    zones: NumberZones.load(),
    bots: () => later.bots,
    backlog,
    carriers,
    outbound: host.outbound,
    speechReady: () => host.speechReady(),
    streams,
    events,
    metrics,
    numbers,
    spendReached: (botName) => spend.reached(botName),
    clock,
    logger,
  };
  const dialler = openDialling(options);
  later.dialler = dialler;
  return { options, dialler };
}

/** Joins the machines of a gateway. @returns undefined where this is the only one @throws GatewayPortError; as `secret` of `SharedState` */
async function joinCluster(
  { later, options, events, states }: GatewayParts,
  { host, streams, open }: Pick<Front, 'host' | 'streams'> & { readonly open: OpenParts },
): Promise<ClusterCalls | undefined> {
  const { shared, config, clock, logger } = options;
  const { address, ...own } = config.settings.cluster;
  if (shared === undefined || address === undefined) return undefined;
  const url = new URL(address);
  const { host: at = url.hostname.replaceAll(/[[\]]/gu, '') } = own;
  // While Redis is away, the others are asked about that; this needs the key.
  await shared.secret('peers');
  const member = shared.members.own.id;
  const proofs = new PeerProofs({ key: () => shared.secret('peers'), ownId: member, clock });
  const completed: StreamAddresses['completed'] = (grant) => streams.completed(grant);
  const calls = new ClusterCalls({ local: host, shared, proofs, keptAt: keptAt(states), completed, events, clock, logger });
  open.add('cluster', async () => calls[Symbol.dispose]());
  const port = own.port || Number(url.port || 80);
  const server = await PeerServer.listen({ host: at, port, proofs, serve: (caller) => calls.serve(caller), clock, logger });
  open.add('cluster', () => {
    calls[Symbol.dispose]();
    return server[Symbol.asyncDispose]();
  });
  logger.info({ address, host: at, port: server.port, member }, 'this machine is one of several of its gateway');
  later.cluster = calls;
  return calls;
}

async function httpParts(front: Front, open: OpenParts): Promise<HttpServerDeps> {
  const { parts, host, streams, whole, cluster } = front;
  const { options, later, metrics, events, carriers, backlog } = parts;
  const { config, clock, logger, shared } = options;
  const { settings, secrets } = config;
  const console = await consoleParts(parts);
  return {
    settings,
    clock,
    logger,
    events,
    metrics: { ...metrics, render: async () => metrics.render(await host.metrics()) },
    carriers,
    intake: whole.intake,
    ...(host.expected && { expected: host.expected }),
    // A process that has its own calls, and no other machine beside it, hands no media over.
    ...(host.expected !== undefined && cluster === undefined ? {} : { media: whole.media }),
    streams,
    rates: shared?.rates,
    spent: shared?.spent,
    api: await apiParts(front, open, console),
    console,
    board: secrets.adminPassword && { password: secrets.adminPassword, queue: backlog.queue },
    redeem: (botSecret, token) => whole.redeem(botsOf(later.bots, botSecret), token),
    ready: () => readiness(front),
  };
}

const NO_CHOICE = { voice: '', speech: { languages: {}, voices: {} } } as const;

async function apiParts(front: Front, open: OpenParts, console: Awaited<ReturnType<typeof consoleParts>>): Promise<ApiDeps> {
  const { parts, bots, dialling } = front;
  const { backlog, options } = parts;
  const { config, clock, check, models } = options;
  const keys = apiKeysOf(config, backlog.store, clock);
  const { webhooks } = backlog;
  const system = systemParts(front);
  return {
    ...backlog,
    prices: config.prices ?? NO_PRICES,
    ...settingsOrders({
      config,
      webhooks,
      keys,
      carriers: parts.carriers,
      console,
      members: () => backlog.store.members,
      check,
      models,
      trySpeech({ text, language }, signal) {
        // Without a bot of this language, the speech that the settings name.
        const bot = parts.later.bots.find((each) => each.language === language) ?? { ...NO_CHOICE, language };
        return trySpeech(parts.speech.router, { text, bot }, clock, signal);
      },
      clock,
    }),
    clock: options.clock,
    bots,
    system,
    alerts: await openAlerts(parts, system, open),
    dialling: dialOrders(dialling.options, dialling.dialler),
    live: liveParts(front),
  };
}

function systemParts({ parts, host, callDrain, bots, numbers }: Front): SystemOrders {
  const { later, speech, backlog, carriers, traffic, options } = parts;
  const { settings, secrets } = options.config;
  return systemOrders({
    settings,
    secrets,
    bots: () => later.bots,
    lastReload: () => bots.lastReload,
    speech,
    backlog,
    carriers,
    traffic,
    callDrain,
    clock: options.clock,
    numbers,
    calls: () => ({ live: host.active, most: settings.call.maximum, draining: host.draining }),
    processes: () => host.processes(),
  });
}

function liveParts({ parts, whole, streams }: Front): LiveCallOrders {
  const { backlog, journal, options } = parts;
  return {
    calls: whole.live,
    audit: backlog.audit,
    elsewhere: (callId) => journal.elsewhere(callId),
    logger: options.logger,
    audio: whole.audio,
    listening: listeningParts(parts, streams),
  };
}

/** What the API needs to have calls between people listened to. */
function listeningParts({ carriers, later }: GatewayParts, streams: StreamAddresses): LiveCallOrders['listening'] {
  return {
    carriers: (tenantId) => listeningCarriers(carriers).filter((name) => (tenantOfAccount(name) ?? tenantId) === tenantId),
    bots: (tenantId) => botsOfTenant(later.bots, tenantId).map(({ name }) => name),
    addressFor: (grant, lifeMs) => streams.forListening(grant, lifeMs),
    async begin(name, carrierCallId, streamUrl) {
      const { control, carrier: { title = name, controlEnvName = '' } = {} } = carriers.get(name) ?? {};
      if (control === undefined) throw new OrderRefusedError(`No account of ${title} is configured (${controlEnvName}).`);
      if (control.fork === undefined)
        throw new OrderRefusedError(`${title} begins a copy of a call by that call's own document: leave out the call.`);
      await control.fork(carrierCallId, streamUrl, new AbortController().signal);
    },
  };
}

/** What the HTTP server needs for the console; undefined where it is turned off. @throws the file system's error; SharedStateUnavailableError */
async function consoleParts({ options, backlog }: GatewayParts) {
  const { config, shared } = options;
  const { settings, secrets } = config;
  if (!settings.console.enabled) return undefined;
  const { dataDir } = settings;
  const key =
    shared === undefined ? ConsoleKey.ensure(dataDir) : ConsoleKey.shared(dataDir, await shared.secret('console'), shared.spent);
  return {
    settings: settings.console,
    key,
    links: shared === undefined ? new SignInLinks(dataDir) : new SealedLinks(key),
    members: backlog.store.members,
    password: secrets.adminPassword,
    openid: OpenIdSignIn.from(settings.console, secrets.openidClientSecret),
    audit: backlog.audit,
  };
}

/** What `/readyz` says. */
async function readiness({ parts, host, cluster }: Front): ReturnType<HttpServerDeps['ready']> {
  const [store, cutOff] = await Promise.all([parts.backlog.storeState(), cluster?.cutOff.problem()]);
  const speech = parts.speech.state(parts.later.bots);
  const { load, draining, mediaProcesses } = host;
  const isServed = mediaProcesses === undefined || mediaProcesses.up > 0;
  return {
    ready: speech !== 'down' && isServed && !load.shedding && !draining && cutOff === undefined,
    parts: {
      speech,
      store,
      load: load.shedding ? 'late' : 'ok',
      calls: draining ? 'draining' : 'ok',
      ...(mediaProcesses && { processes: `${mediaProcesses.up} of ${mediaProcesses.size}` }),
      ...(cluster && { cluster: cutOff ?? 'ok' }),
    },
  };
}
