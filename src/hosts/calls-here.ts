import { callsByCarrier, liveCallsOf } from '../call/admission/live-calls.ts';
import { GivenSockets } from '../http/given-sockets.ts';
import { ExpectedMedia } from '../http/intake.ts';
import { LocalLiveAudio } from '../http/live-audio.ts';
import { serveGivenMedia } from '../http/serve-given-media.ts';
import type { CallHost, HostedBy } from './call-host.ts';
import { type Calls, callIntake, startCalls } from './calls.ts';
import { doorOf, type GatewayParts } from './gateway-parts.ts';

/** Has the calls of a gateway in this process. @throws OffhookError when a bot's dialog cannot be opened */
export async function hostCallsHere(parts: GatewayParts, gateway: HostedBy): Promise<CallHost> {
  const { options, events, carriers, speech } = parts;
  const { clock, logger } = options;
  const calls = await startCallsOf(parts, gateway, (attachmentId) => expected.abandon(attachmentId, 'the leg is over'));
  const { registry, load } = calls;
  const intake = callIntake(registry, gateway.dialReported);
  const expected = new ExpectedMedia(clock, intake);
  const audio = new LocalLiveAudio({ registry, clock, logger });
  const sockets = new GivenSockets();
  const serving = { intake, expected, sockets, clock, events, logger, carriers };
  return {
    intake,
    live: liveCallsOf(calls),
    media: {
      expect: (...about) => expected.expect(...about),
      abandon: (...about) => expected.abandon(...about),
      take: (grant, upgrade) => serveGivenMedia(serving, grant, upgrade),
    },
    audio,
    has: (callId) => registry.has(callId),
    hasCarrierCall: (key) => registry.hasCarrierCall(key),
    again: (inbound) => registry.again(inbound),
    speechReady: () => speech.router.ready(),
    giveUp: (callId) => registry.release(callId, 'went on elsewhere'),
    redeem: (botNames, token) => calls.redeem(botNames, token),
    outbound: registry,
    registry,
    expected,
    get active() {
      return registry.active;
    },
    get draining() {
      return registry.draining;
    },
    load,
    mediaProcesses: undefined,
    prepared: calls.prepared,
    prepare: () => void calls.prepare(),
    processes: () => [processOf(calls)],
    metrics: async () => [],
    async loadBots(bots, use) {
      const give = await calls.loadBots(bots);
      give();
      use();
    },
    start: async () => undefined,
    drain: () => registry.drain(),
    takeCalls: () => registry.takeCalls(),
    startNoMore: () => undefined,
    async close() {
      await calls.close();
      audio.close();
      sockets.close('gateway stops', clock);
    },
  };
}

async function startCallsOf(
  parts: GatewayParts,
  { legs, begun, over }: HostedBy,
  abandon: (attachmentId: string) => void,
): Promise<Calls> {
  const { options, speech, carriers, events, journal, backlog, metrics } = parts;
  const { config, bots, clock, logger, news } = options;
  const calls = await startCalls({
    config,
    bots,
    clock,
    logger,
    news,
    speech,
    carriers,
    events,
    journal,
    keeping: backlog,
    legDoor: {
      addresses: (leg, ringMs) => legs.addresses(leg, ringMs),
      placed: (leg, carrierCallId) => legs.placed(leg, carrierCallId),
      closed(leg) {
        abandon(leg.attachmentId);
        legs.closed(leg);
      },
    },
    onBegun: begun,
    onOver: over,
    sealFixtures: backlog.seals ? (tenantId, callId, make) => backlog.store.privacy.audioKey(tenantId, callId, make) : undefined,
    door: (load) => ({ ...doorOf(parts), shedding: () => load().shedding }),
  });
  metrics.watchBotsDown(() => calls.botsDown());
  metrics.watchCalls(() => callsByCarrier(calls.registry, carriers.keys()));
  return calls;
}

function processOf({ registry, load: { lagMs, shedding } }: Calls): ReturnType<CallHost['processes']>[number] {
  const state = registry.draining ? 'leaving' : 'up';
  return { name: 'gateway', pid: process.pid, state, lagMs, shedding, calls: registry.active };
}
