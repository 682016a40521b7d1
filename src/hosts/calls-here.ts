import { recallCaller } from '../records/privacy/recall-caller.ts';
import { callsByCarrier, liveCallsOf } from '../call/admission/live-calls.ts';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import { GivenSockets } from '../http/given-sockets.ts';
import { type CallIntake, ExpectedMedia } from '../http/intake.ts';
import { LocalLiveAudio } from '../http/live-audio.ts';
import { serveGivenMedia } from '../http/serve-given-media.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallHost, HostedBy, LocalCalls } from './call-host.ts';
import { type Calls, startCalls } from './calls.ts';
import { doorOf, type GatewayParts } from './gateway-parts.ts';
import type { GatewaySpeech } from './speech.ts';

interface ReachingParts {
  readonly calls: Calls;
  readonly carriers: OpenCarriers;
  readonly speech: Pick<GatewaySpeech, 'router'>;
  readonly events: BusinessEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hears reports on dialled calls too; absent where this process does not dial. */
  readonly dialReported?: CallIntake['dialReported'];
}

/** The calls of this process, and the media that is expected for them. */
interface CallsOfProcess extends LocalCalls {
  readonly expected: ExpectedMedia;
  /** Says goodbye to live calls, waits for their ends, and closes the sockets that are left. */
  close(why: string): Promise<void>;
}

/** Lets everything that concerns calls reach those of this process: a gateway that has its own, or a media process. */
export function reachCalls({ calls, dialReported, speech, ...parts }: ReachingParts): CallsOfProcess {
  const { registry } = calls;
  const { carriers, clock, events, logger } = parts;
  const intake: CallIntake = {
    answer: (inbound) => calls.answer(inbound),
    attach: (callId, attachment) => registry.attach(callId, attachment),
    abandon: (callId, _attachmentId, reason) => registry.abandon(callId, reason),
    carrierStatus(call, _status, terminal) {
      if (terminal) registry.carrierEnded(call, 'caller-hangup');
    },
    keyReported: (call, digit) => registry.keyReported(call, digit),
    dialReported(callId, report) {
      registry.reported(callId, report);
      dialReported?.(callId, report);
    },
  };
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
    expected,
    has: (callId) => registry.has(callId),
    hasCarrierCall: registry.hasCarrierCall,
    again: (inbound) => registry.again(inbound),
    speechReady: () => speech.router.ready(),
    giveUp: (callId) => registry.release(callId, 'went on elsewhere'),
    redeem: (botNames, token) => calls.redeem(botNames, token),
    async close(why) {
      await calls.close();
      expected.abandonAll(why);
      audio.close();
      sockets.close(why, clock);
    },
  };
}

/** Has the calls of a gateway in this process. @throws OffhookError when a bot's dialog cannot be opened */
export async function hostCallsHere(parts: GatewayParts, gateway: HostedBy): Promise<CallHost> {
  const { options, events, carriers, speech } = parts;
  const { clock, logger } = options;
  const calls = await startCallsOf(parts, gateway, (attachmentId) => here.expected.abandon(attachmentId, 'the leg is over'));
  const { registry, load } = calls;
  const here = reachCalls({ calls, carriers, speech, events, clock, logger, dialReported: gateway.dialReported });
  return {
    ...here,
    outbound: registry,
    registry,
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
    close: () => here.close('gateway stops'),
  };
}

async function startCallsOf(
  parts: GatewayParts,
  { legs, begun, over }: HostedBy,
  abandon: (attachmentId: string) => void,
): Promise<Calls> {
  const { options, speech, carriers, events, journal, backlog, metrics, spend } = parts;
  const { config, bots, clock, logger, news, aroundDialogs } = options;
  const calls = await startCalls({
    config,
    bots,
    clock,
    logger,
    news,
    aroundDialogs,
    speech,
    carriers,
    events,
    journal,
    keeping: backlog,
    spend: spend.rules,
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
    recall: recallCaller(async () => backlog.store),
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
